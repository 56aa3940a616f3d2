import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { z } from 'zod'
import {
  createCallPlatform,
  defineDocument,
  defineList,
  defineRaw,
  defineRoute,
  defineStream,
  defineUpload,
  type RequestMeta,
  serviceClient,
} from '../index.js'
import { gatewayToken, issuerFor, startTestApp, type TestApp, user } from './test-app.fixture.js'

/** Resolves once the test's request is being handled. */
let handling: { begun: Promise<void>; begin(): void }
const expectRequest = () => {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  handling = { begun, begin }
}

/** How handlers react to an aborted signal: they throw its reason, or a derived error. */
const untilGone = ({ signal }: Pick<RequestMeta, 'signal'>) => {
  handling.begin()
  return new Promise<never>((_, reject) => {
    signal().addEventListener('abort', () => reject(signal().reason), { once: true })
  })
}

const common = { tag: 'waits', scope: 'itsm:read', summary: 'Waits' } as const
const routes = (neighbour: ReturnType<typeof serviceClient>) => [
  defineRoute({
    ...{
      ...common,
      operationId: 'saveAll',
      method: 'post',
      path: '/all',
      response: z.object({}),
      status: 200,
    },
    body: z.object({ text: z.string() }),
    handler: ({ meta }) => untilGone(meta),
  }),
  defineList({
    ...{ ...common, operationId: 'listAll', path: '/all', response: z.object({}) },
    handler: ({ meta }) => untilGone(meta),
  }),
  defineRoute({
    ...{ ...common, operationId: 'askNeighbour', method: 'get', path: '/neighbour', response: z.object({}) },
    errors: ['service_unavailable'],
    handler: async ({ meta }) => neighbour.get('/internal/none', z.object({}), { signal: meta.signal() }),
  }),
  defineRoute({
    ...{ ...common, operationId: 'convert', method: 'get', path: '/converted', response: z.object({}) },
    errors: ['upstream_error'],
    handler: ({ meta }) =>
      untilGone(meta).catch((cause: unknown) => {
        throw new ApiError('upstream_error', 'It did not answer.', { cause })
      }),
  }),
  defineRoute({
    ...{ ...common, operationId: 'askPlatform', method: 'get', path: '/platform', response: z.object({}) },
    errors: ['service_unavailable'],
    handler: async ({ meta }) => {
      const clients = new Map([['itsm' as const, neighbour]])
      const call = createCallPlatform({ clients, delegations: { actingBy: () => issuerFor('sut') } })
      const caller = { grant: 'grant', key: 'key', signal: meta.signal() }
      await call(caller, { service: 'itsm', method: 'GET', path: '/none' }).catch((cause: unknown) => {
        throw new ApiError('service_unavailable', 'It cannot be reached.', { cause })
      })
      return {}
    },
  }),
  defineUpload({
    ...{
      ...common,
      operationId: 'upload',
      method: 'post',
      path: '/file',
      response: z.object({}),
      status: 200,
    },
    mediaTypes: ['text/csv'],
    async handler({ upload }) {
      handling.begin()
      for await (const chunk of upload) if (chunk.length === 0) break
      return {}
    },
  }),
  defineRaw({
    ...{ ...common, operationId: 'raw', method: 'post', path: '/raw', mediaTypes: ['text/plain'] },
    handler: ({ meta }) => untilGone(meta),
  }),
  defineDocument({
    ...{ ...common, operationId: 'document', path: '/document' },
    handler: ({ meta }) => untilGone(meta),
  }),
  defineStream({
    ...{ ...common, operationId: 'stream', path: '/lines', line: z.object({ n: z.int() }) },
    handler: async ({ meta }) => ({ fileName: 'lines.ndjson', batches: batchesUntilGone(meta) }),
  }),
  defineRoute({
    ...{ ...common, operationId: 'fail', method: 'get', path: '/fault', response: z.object({}) },
    handler: ({ meta }) =>
      untilGone(meta).catch(() => {
        throw new TypeError('a fault of the handler')
      }),
  }),
]

async function* batchesUntilGone(meta: Pick<RequestMeta, 'signal'>) {
  yield [{ n: 1 }]
  yield await untilGone(meta)
}

let app: TestApp
let silent: Server
let client: ReturnType<typeof serviceClient>
let token: string
beforeAll(async () => {
  silent = createServer(() => handling.begin())
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  client = serviceClient({ baseUrl, audience: 'itsm', issuer: issuerFor('sut'), timeoutMs: 60_000 })
  app = await startTestApp(routes(client))
  token = await gatewayToken(user)
})
afterAll(async () => {
  await app?.close()
  await client?.close()
  silent?.closeAllConnections()
  silent?.close()
})
beforeEach(expectRequest)

const open = (method: string, path: string, rest: string): Socket => {
  const socket = connect(app.listening.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: sut\r\nAuthorization: Bearer ${token}\r\n${rest}`)
  return socket
}
const levels = { debug: 20, error: 50 }

/** Log lines of one request up to its final line, without debug lines of the HTTP parser. */
async function logOf(act: () => Promise<void>): Promise<Record<string, unknown>[]> {
  const before = app.logged().length
  await act()
  while (
    !app
      .logged()
      .slice(before)
      .some(({ msg }) => msg === 'request')
  )
    await setImmediate()
  return app
    .logged()
    .slice(before)
    .filter(({ level, msg }) => msg === 'request' || level !== levels.debug)
}

const leftEarly = (route: string) => [
  expect.objectContaining({ level: levels.debug, msg: 'request', status: 499, route }),
]

const bodyOf = (type: string) => `Content-Type: ${type}\r\nContent-Length: 100\r\n\r\n{"text":`
const whole = 'Content-Type: application/json\r\nContent-Length: 12\r\n\r\n{"text":"x"}'

test.each([
  ['while the handler waits', 'POST', '/all', whole],
  ['while a list is read', 'GET', '/all', '\r\n'],
  ['while another service is called', 'GET', '/neighbour', '\r\n'],
  ['while the platform is called for a person', 'GET', '/platform', '\r\n'],
  ['while a handler makes an error of it', 'GET', '/converted', '\r\n'],
  ['within a file', 'POST', '/file', bodyOf('text/csv')],
  ['while a document is made', 'GET', '/document', '\r\n'],
  ['within an answer', 'GET', '/lines', '\r\n'],
  ['while a raw route waits', 'POST', '/raw', 'Content-Length: 0\r\n\r\n'],
])('a client that disconnects %s causes no error: %s %s', async (_, method, path, rest) => {
  const logged = await logOf(async () => {
    const socket = open(method, path, rest)
    await handling.begun
    socket.destroy()
  })
  expect(logged).toEqual(leftEarly(path))
})

test.each([
  ['/all', bodyOf('application/json')],
  ['/raw', bodyOf('text/plain')],
])('a client that disconnects within a request body causes no error: %s', async (path, rest) => {
  const logged = await logOf(async () => {
    const requested = once(app.listening.server, 'request')
    const socket = open('POST', path, rest)
    await requested
    socket.destroy()
  })
  expect(logged).toEqual(leftEarly(path))
})

test('a fault of the handler is logged as an error, even if the client has disconnected', async () => {
  const logged = await logOf(async () => {
    const socket = open('GET', '/fault', '\r\n')
    await handling.begun
    socket.destroy()
  })
  expect(logged).toContainEqual(expect.objectContaining({ level: levels.error, route: '/fault' }))
})
