import { expect, test } from '@jest/globals'
import { limitReached } from '@opsplane/runtime'
import type { ResolveSecrets } from '../calls/secret-values.js'
import type { OutboundRequest } from './outbound.js'
import { createSecretHttp, type SecretRequest } from './secret-request.js'

/** Maximum bytes of one request, independent of the budget per minute. */
const maxBytes = 1_000_000
/** The maximum length of all secrets of a request. */
const long = 's'.repeat(64 * 1_024)

function start() {
  const sent: Pick<OutboundRequest, 'url' | 'headers' | 'body'>[] = []
  const resolveSecrets: ResolveSecrets = async (_user, names) => ({
    values: Object.fromEntries(names.map((name) => [name, name === 'short' ? '"k/ey"' : long])),
    refused: {},
  })
  const http = {
    request: async ({ url, headers, body }: OutboundRequest) => {
      sent.push({ url, headers, ...(body !== undefined && { body }) })
      return { status: 200, headers: {}, body: Buffer.from('done'), truncated: false, durationMs: 1 }
    },
  }
  const spent: number[] = []
  const spendEgress = (_tenant: object, bytes: number) => {
    if (bytes > maxBytes) throw limitReached('egressBytesPerMinute', maxBytes)
    spent.push(bytes)
  }
  const sendFilled = createSecretHttp({
    ...{ http, resolveSecrets, spendEgress },
    signCause: (cause) => ({ 'x-service-cause': `signed ${cause}` }),
  })
  const request: SecretRequest = {
    ...{ method: 'POST', url: 'https://api.example.com/in', headers: {}, query: {}, body: undefined },
    ...{
      idempotencyKey: 'k',
      cause: 'run_1',
      timeoutMs: 1_000,
      signal: new AbortController().signal,
      maxResponseBytes: 1_024,
    },
    user: {
      tenant: { workspaceId: 'ws_1', environment: 'production' },
      userId: 'usr_1',
      consumer: 'workflow/wf_1',
    },
  }
  return { sent, spent, send: (changes: Partial<SecretRequest>) => sendFilled({ ...request, ...changes }) }
}

test('secrets are filled in with the escaping that URL, query, header and body each need', async () => {
  const { sent, send } = start()
  await send({
    url: 'https://api.example.com/{{secrets.short}}',
    headers: { 'X-Key': 'key {{secrets.short}}', 'X-Service-Cause': 'forged' },
    query: { key: '{{ secrets.short }}' },
    body: { key: '{{secrets.short}}' },
  })
  expect(sent).toEqual([
    {
      url: 'https://api.example.com/%22k%2Fey%22?key=%22k%2Fey%22',
      headers: {
        ...{ 'content-type': 'application/json', 'idempotency-key': 'k', 'x-key': 'key "k/ey"' },
        'x-service-cause': 'signed run_1',
      },
      body: '{"key":"\\"k/ey\\""}',
    },
  ])
})

test('sent bytes count against the egress budget of the workspace, and nothing is sent once it is used up', async () => {
  const { sent, spent, send } = start()
  const url = 'https://api.example.com/in'
  await send({ url, body: 'é{{secrets.short}}' })
  expect(spent).toEqual([url.length + 2 + '"k/ey"'.length])
  const refused = { code: 'rate_limited', retryable: true }
  await expect(send({ body: 'x'.repeat(maxBytes) })).rejects.toMatchObject(refused)
  expect(sent).toHaveLength(1)
})

const twice = '{{secrets.long}}'.repeat(2)

// 5 GB if each text were built before its length is counted.
test.each<[string, Partial<SecretRequest>]>([
  ['a body', { body: '{{secrets.long}}'.repeat(80_000) }],
  ['a body of JSON', { body: { keys: Array.from({ length: 8_000 }, () => '{{secrets.long}}') } }],
  ['a header', { headers: { 'X-Key': '{{secrets.long}}'.repeat(1_000) } }],
  ['a query', { query: { key: '{{secrets.long}}'.repeat(8_000) } }],
  ['a URL', { url: `https://api.example.com/${'{{secrets.long}}'.repeat(500)}` }],
  ['all of them', { body: twice, query: { key: twice }, headers: { 'X-Key': twice } }],
])('%s that references secrets again and again is rejected before it is built', async (_what, request) => {
  const { sent, send } = start()
  await expect(send(request)).rejects.toMatchObject({ code: 'secrets_too_long', retryable: false })
  expect(sent).toEqual([])
})
