import { expect, test } from '@jest/globals'
import type { HttpStep } from '@opsplane/contracts'
import { createSecretHttp } from '@opsplane/http'
import type { Origin, RunIdentity } from '../model.js'
import { type EffectCall, toFailure } from './effect.js'
import { httpEffect } from './http.js'

const secret = 'correct-horse-battery'

/** The outcome of a step that receives this response. */
async function answered(type: string, body: Buffer, more: { status?: number; isBroken?: true } = {}) {
  const send = createSecretHttp({
    http: {
      request: async () => ({
        ...{ status: 200, headers: { 'content-type': type, 'content-encoding': 'br' }, body, ...more },
        ...{ truncated: more.isBroken ?? false, durationMs: 1 },
      }),
    },
    resolveSecrets: async () => ({ values: { token: secret, pin: '1234' }, refused: {} }),
    spendEgress: () => {},
    signCause: () => ({}),
  })
  const call = {
    ...{ run: { id: 'run_1', workflowId: 'wf_1' } as RunIdentity, origin: {} as Origin },
    ...{ step: { method: 'GET' } as HttpStep, key: 'key', timeoutMs: 1_000, userId: 'usr_1' },
    conceal: (_: readonly string[]) => {},
    input: { url: 'https://example.com/', headers: { a: '{{secrets.token}} {{secrets.pin}}' } },
    signal: new AbortController().signal,
  } as EffectCall<HttpStep>
  return httpEffect(send)(call).catch(toFailure)
}

test('a step decodes text by its charset, and returns other content as base64', async () => {
  const latin1 = Buffer.from('grün', 'latin1')
  expect(await answered('text/plain; charset=iso-8859-1', latin1)).toMatchObject({ body: 'grün' })
  expect(await answered('application/octet-stream', latin1)).toMatchObject({
    ...{ body: latin1.toString('base64'), bodyEncoding: 'base64' },
  })
  expect(await answered('image/png', latin1, { status: 404 })).toMatchObject({
    error: { code: 'http_status', details: { body: latin1.toString('base64'), bodyEncoding: 'base64' } },
  })
})

test('a step fails with an explanation when the response cannot be decompressed', async () => {
  expect(await answered('text/plain', Buffer.from(''), { isBroken: true })).toMatchObject({
    error: { code: 'upstream_error', message: expect.stringContaining('does not decompress: it is not br') },
  })
})

test('a response is returned unchanged, except that echoes of secrets are masked unless these are short', async () => {
  const body = Buffer.from(
    JSON.stringify({ number: 'INC-1234', token: 'page-2', echo: `is ${secret}`, n: 1234 }),
  )
  expect(await answered('application/json', body)).toMatchObject({
    body: { number: 'INC-1234', token: 'page-2', echo: 'is ***', n: 1234 },
  })
})
