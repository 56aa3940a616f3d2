import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { z } from 'zod'
import { defineRoute, securityHeaders } from '../index.js'
import { createDeferred, gatewayToken, startTestApp, type TestApp, user } from './test-app.fixture.js'

const contract = {
  method: 'get',
  summary: 'x',
  tag: 't',
  scope: 'itsm:read',
  response: z.object({ done: z.boolean() }),
} as const
const quick = defineRoute({
  ...contract,
  operationId: 'quick',
  path: '/quick',
  handler: async () => ({ done: true }),
})

const allButTimeouts = [
  ...([
    'Date',
    'hrtime',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'clearImmediate',
  ] as const),
  ...(['setInterval', 'clearInterval'] as const),
]

let app: TestApp | undefined
afterEach(() => app?.close())

/** A route that waits until the test lets it continue. */
function slowRoute() {
  const [started, finish, gone] = [createDeferred(), createDeferred(), createDeferred()]
  const route = defineRoute({
    ...contract,
    operationId: 'slow',
    path: '/slow',
    handler: async ({ meta }) => {
      meta.signal().addEventListener('abort', () => gone.resolve())
      started.resolve()
      await finish.promise
      return { done: true }
    },
  })
  return { route, started, finish, gone }
}

describe('closing the server', () => {
  test('completes a request in flight and refuses new connections', async () => {
    const { route, started, finish } = slowRoute()
    app = await startTestApp([quick, route])
    const inFlight = app.call('GET', '/slow')
    await started.promise
    const closed = app.close()
    await expect(app.call('GET', '/quick')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    finish.resolve()
    expect(await inFlight).toMatchObject({ status: 200 })
    await closed
  })

  test('is not delayed by an idle keep-alive connection', async () => {
    app = await startTestApp([quick])
    const agent = new Agent({ keepAlive: true })
    await new Promise((resolve, reject) => {
      const req = httpRequest(`${app?.url}/healthz`, { agent }, (res) => res.resume().on('end', resolve))
      req.on('error', reject).end()
    })
    await app.close()
    agent.destroy()
  })

  test('is not delayed by a connection that never sent anything', async () => {
    app = await startTestApp([quick], {}, { drainTimeoutMs: 600_000 })
    const spare = connect(Number(new URL(app.url).port), '127.0.0.1')
    spare.on('error', () => undefined)
    await once(spare, 'connect')
    await app.call('GET', '/quick')
    await app.close()
    spare.destroy()
  })

  test('aborts requests that are unfinished at the deadline', async () => {
    const { route, started, gone } = slowRoute()
    app = await startTestApp([route], {}, { drainTimeoutMs: 30 })
    const inFlight = app.call('GET', '/slow')
    inFlight.catch(() => undefined)
    await started.promise
    await app.close()
    await expect(inFlight).rejects.toMatchObject({ code: 'ECONNRESET' })
    await gone.promise
  })

  test('accepts requests during the drain delay, and closes each connection after its response', async () => {
    app = await startTestApp([quick], {}, { drainDelayMs: 600_000 })
    const agent = new Agent({ keepAlive: true })
    const answerOf = async (path: string) => {
      const [answer] = await once(httpRequest(`${app?.url}${path}`, { agent }).end(), 'response')
      answer.resume()
      return [answer.statusCode, answer.headers.connection]
    }
    expect(await answerOf('/readyz')).toEqual([200, 'keep-alive'])
    jest.useFakeTimers({ doNotFake: allButTimeouts })
    try {
      const closed = app.close()
      expect(await answerOf('/readyz')).toEqual([503, 'close'])
      expect(await answerOf('/healthz')).toEqual([200, 'close'])
      expect(await app.call('GET', '/quick')).toMatchObject({ status: 200 })
      jest.advanceTimersByTime(600_000)
      await closed
      await expect(app.call('GET', '/quick')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    } finally {
      jest.useRealTimers()
    }
  })

  test('can end waiting requests through onDrain', async () => {
    const { route, started, finish } = slowRoute()
    app = await startTestApp([route], {}, { onDrain: () => finish.resolve() })
    const inFlight = app.call('GET', '/slow')
    await started.promise
    await app.close()
    expect(await inFlight).toMatchObject({ status: 200 })
  })
})

test('aborts the signal of a handler when its client disconnects', async () => {
  const { route, started, finish, gone } = slowRoute()
  app = await startTestApp([route])
  const authorization = `Bearer ${await gatewayToken(user)}`
  const req = httpRequest(`${app.url}/slow`, { headers: { authorization } })
  req.on('error', () => undefined).end()
  await started.promise
  req.destroy()
  await gone.promise
  finish.resolve()
})

test('rejects a port that is in use', async () => {
  app = await startTestApp([quick])
  const { port } = app.listening
  await expect(startTestApp([quick], {}, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

describe('the HTTP parser', () => {
  const envelope = (text: string) => {
    const [head = '', body = ''] = text.split('\r\n\r\n')
    return { head, json: JSON.parse(body) as unknown }
  }

  test('rejects bytes that are not HTTP', async () => {
    app = await startTestApp([quick])
    const { head, json } = envelope(await app.raw('HELLO\r\n\r\n'))
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(head).toContain('X-Content-Type-Options: nosniff')
    expect(json).toMatchObject({ error: { code: 'malformed_url', status: 400 } })
  })

  test('rejects headers that are too large', async () => {
    app = await startTestApp([quick])
    const bytes = `GET /quick HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`
    const { head, json } = envelope(await app.raw(bytes))
    expect(head).toMatch(/^HTTP\/1\.1 431 /)
    expect(json).toMatchObject({ error: { code: 'headers_too_large', details: [] } })
  })
})

describe('every response has the security headers', () => {
  const headers = Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`.toLowerCase())
  const hanging = 'Content-Type: application/json\r\nContent-Length: 9\r\n'

  test.each<[string, string, number]>([
    ['no HTTP', 'HELLO\r\n\r\n', 400],
    ['no host', 'GET /quick HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['headers too large', `GET /quick HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    [
      'a strange expectation',
      'GET /quick HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n',
      401,
    ],
    [
      'an upgrade',
      'GET /quick HTTP/1.1\r\nHost: x\r\nUpgrade: tea\r\nConnection: upgrade, close\r\n\r\n',
      401,
    ],
    ['an unknown path', 'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
    ['an unknown method', 'PURGE /quick HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405],
    ['two lengths', `POST /quick HTTP/1.1\r\nHost: x\r\n${hanging}Content-Length: 8\r\n\r\n`, 400],
    ['a probe', 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 200],
  ])('also for %s', async (_what, bytes, status) => {
    app = await startTestApp([quick])
    const answer = await app.raw(bytes)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    const lines = answer.toLowerCase().split('\r\n')
    expect(lines).toEqual(expect.arrayContaining(headers))
    if (status >= 400) expect(answer).toMatch(/\{"error":\{"code":"[a-z_]+".*"meta":\{"requestId":"/)
  })
})

describe('probes', () => {
  test('succeed if the service is live and ready', async () => {
    app = await startTestApp([quick], { readiness: async () => ({ postgres: 'up', nats: 'up' }) })
    expect((await app.call('GET', '/healthz', { token: null })).status).toBe(200)
    expect((await app.call('GET', '/readyz', { token: null })).json).toMatchObject({
      data: { status: 'ready', checks: { postgres: 'up', nats: 'up' } },
    })
  })

  test('return 503 with the failed checks if the service is not ready', async () => {
    app = await startTestApp([quick], { readiness: async () => ({ postgres: 'up', nats: 'not connected' }) })
    const answer = await app.call('GET', '/readyz', { token: null })
    expect(answer.status).toBe(503)
    expect(answer.json).toMatchObject({
      error: { code: 'service_unavailable', message: 'Not ready: nats (not connected).' },
    })
  })
})
