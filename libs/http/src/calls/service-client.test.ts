import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { z } from 'zod'
import { defineRoute, type ServiceClient, serviceClient } from '../index.js'
import { issuerFor, startTestApp } from '../server/test-app.fixture.js'

const Echo = z.object({ text: z.string(), caller: z.string(), requestId: z.string() })
const contract = {
  tag: 'internal',
  summary: 'x',
  scope: 'service',
  callers: ['itsm'],
  response: Echo,
} as const
const routes = [
  defineRoute({
    ...contract,
    operationId: 'echo',
    method: 'post',
    path: '/internal/echo',
    body: z.object({ text: z.string() }),
    handler: async ({ body, meta }) => ({
      text: body.text,
      caller: meta.principal.tokenId,
      requestId: meta.requestId,
    }),
  }),
  defineRoute({
    ...contract,
    operationId: 'refuse',
    method: 'get',
    path: '/internal/refuse',
    handler: async () => {
      throw new ApiError('workspace_forbidden', 'Not yours.', {
        details: [
          {
            in: 'header',
            path: '/x-workspace',
            code: 'forbidden',
            message: 'is not yours',
            params: { a: 1 },
          },
        ],
      })
    },
  }),
]

const opened: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function clientOfApp(): Promise<ServiceClient> {
  const app = await startTestApp(routes)
  opened.push(() => app.close())
  return clientOf(app.url)
}

function clientOf(baseUrl: string, timeoutMs = 30_000): ServiceClient {
  const client = serviceClient({ baseUrl, audience: 'sut', issuer: issuerFor('itsm'), timeoutMs })
  opened.push(() => client.close())
  return client
}

/** A server with arbitrary responses. */
async function strangeServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('the client sends its own identity and the request id, and returns the parsed data', async () => {
  const client = await clientOfApp()
  const answer = await client.post('/internal/echo', { text: 'hé' }, Echo, { requestId: 'trace-0001' })
  expect(answer).toEqual({ text: 'hé', caller: 'service:itsm', requestId: 'trace-0001' })
})

test('a refusal that concerns the caller is rethrown unchanged, but without the fields of the inner request', async () => {
  const client = await clientOfApp()
  await expect(client.get('/internal/refuse', Echo)).rejects.toMatchObject({
    code: 'workspace_forbidden',
    message: 'Not yours.',
    details: [{ path: '', params: { a: 1 } }],
  })
})

test('a service that does not listen causes service_unavailable', async () => {
  const url = await strangeServer(() => undefined)
  await opened.pop()?.()
  await expect(clientOf(url).get('/internal/x', Echo)).rejects.toMatchObject({ code: 'service_unavailable' })
})

test('a service that breaks the connection causes service_unavailable', async () => {
  const url = await strangeServer((req) => req.socket.destroy())
  await expect(clientOf(url).get('/internal/x', Echo)).rejects.toMatchObject({ code: 'service_unavailable' })
})

test.each([
  ['never answers', () => undefined],
  ['never finishes its answer', ((_req, res) => res.write('{')) satisfies RequestListener],
])('a service that %s in time causes upstream_timeout', async (_what, listener) => {
  const url = await strangeServer(listener)
  await expect(clientOf(url, 50).get('/internal/x', Echo)).rejects.toMatchObject({ code: 'upstream_timeout' })
})

test.each([
  ['html', 200, '<html>'],
  ['data of another shape', 200, '{"data":{"text":1},"meta":{"requestId":"x"}}'],
  ['an error without the envelope', 502, 'Bad Gateway'],
])('an unexpected response causes upstream_error: %s', async (_what, status, text) => {
  const url = await strangeServer((_req, res) => void res.writeHead(status).end(text))
  await expect(clientOf(url).get('/internal/x', Echo)).rejects.toMatchObject({ code: 'upstream_error' })
})

/** More than one read returns, of a response that never ends. */
const manyLines = Array.from({ length: 3_000 }, (_, n) => `line ${n}\n`).join('')

test('the connection closes when the reader of a line stream stops', async () => {
  let answer: ServerResponse | undefined
  const url = await strangeServer((_req, res) => {
    answer = res
    res.write(manyLines)
  })
  for await (const line of clientOf(url, 600_000).lines('/internal/x')) {
    expect(line).toBe('line 0')
    break
  }
  if (!answer?.closed) await once(answer as ServerResponse, 'close')
})

test('an abort after a line stream has been closed causes no error', async () => {
  const url = await strangeServer((_req, res) => void res.write(manyLines))
  const ending = new AbortController()
  for await (const _ of clientOf(url, 600_000).lines('/internal/x', { signal: ending.signal })) break
  ending.abort()
})
