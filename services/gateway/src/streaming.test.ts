import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { asAda, call, echo, startPlatform, startUpstream, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.stop())
afterEach(() => {
  platform.itsm.handler = echo
  platform.itsm.requests.length = 0
})

const mebibyte = 1024 * 1024

function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

function open(path: string, method: string, headers: Record<string, string | number> = {}): ClientRequest {
  return httpRequest(`${platform.url}/api/v1${path}`, { method, headers: { ...asAda, ...headers } })
}

async function answerTo(request: ClientRequest): Promise<{ response: IncomingMessage; code: string }> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { response, code: JSON.parse(await text(response)).error?.code }
}

const post = (path: string, bytes: number) =>
  call(`${platform.url}/api/v1${path}`, { method: 'POST', headers: asAda, body: 'x'.repeat(bytes) })

describe('a body', () => {
  test('with a Content-Length above the limit is rejected before it is sent', async () => {
    const request = open('/itsm/incidents', 'POST', { 'Content-Length': mebibyte + 1 })
    request.write('x')
    const { response, code } = await answerTo(request)
    expect([response.statusCode, code]).toEqual([413, 'payload_too_large'])
    expect(platform.itsm.requests).toHaveLength(0)
    request.destroy()
  })

  test('with a Content-Length above the limit is rejected even if the client sends it completely first', async () => {
    expect(await post('/itsm/incidents', 4 * mebibyte)).toMatchObject({
      status: 413,
      code: 'payload_too_large',
    })
  })

  test('that exceeds the limit is rejected during the transfer', async () => {
    const request = open('/itsm/incidents', 'POST', { 'Transfer-Encoding': 'chunked' })
    const answer = answerTo(request)
    for (let sent = 0; sent <= mebibyte; sent += 65_536) request.write('x'.repeat(65_536))
    const { response, code } = await answer
    expect([response.statusCode, code]).toEqual([413, 'payload_too_large'])
    request.end()
  })

  test.each([0, 1, 65_536, 65_537, mebibyte])('of %d bytes is accepted', async (bytes) => {
    const reply = await post('/itsm/incidents', bytes)
    expect(String(reply.body.data?.body)).toHaveLength(bytes)
  })

  test('may be as large as its route allows', async () => {
    const reply = await post('/knowledge/articles', 2 * mebibyte)
    expect(String(reply.body.data?.body)).toHaveLength(2 * mebibyte)
  })

  test('is forwarded while it arrives', async () => {
    const request = open('/itsm/incidents', 'POST', { 'Transfer-Encoding': 'chunked' })
    const arrived = new Promise<string>((resolve) => {
      platform.itsm.handler = (incoming, response) => {
        incoming.once('data', (chunk) => resolve(String(chunk)))
        incoming.once('end', () => response.end('{}'))
      }
    })
    request.write('first')
    expect(await arrived).toBe('first')
    request.end('second')
    expect((await answerTo(request)).response.statusCode).toBe(200)
  })
})

describe('an answer', () => {
  test('is forwarded while it arrives, complete and in order', async () => {
    let more = () => {}
    platform.itsm.handler = (_incoming, response) => {
      response.write('first,')
      more = () => response.end('x'.repeat(8 * mebibyte))
    }
    const request = open('/itsm/incidents', 'GET')
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const [first] = await once(response, 'data')
    expect(String(first)).toBe('first,')
    more()
    expect((await text(response)).length).toBe(8 * mebibyte)
  })

  test('truncated by the service is truncated for the client', async () => {
    platform.itsm.handler = (_incoming, response) => {
      response.writeHead(200, { 'Content-Length': 100 })
      response.write('half', () => response.destroy())
    }
    const request = open('/itsm/incidents', 'GET')
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    await expect(text(response)).rejects.toThrow('aborted')
  })

  test.each([204, 304])('with status %d has no body', async (status) => {
    platform.itsm.handler = (_incoming, response) => response.writeHead(status).end()
    const response = await fetch(`${platform.url}/api/v1/itsm/incidents`, { headers: asAda })
    expect([response.status, await response.text()]).toEqual([status, ''])
  })

  test('to HEAD has its headers', async () => {
    platform.itsm.handler = (_incoming, response) => response.writeHead(200, { 'Content-Length': 7 }).end()
    const response = await fetch(`${platform.url}/api/v1/itsm/incidents`, { method: 'HEAD', headers: asAda })
    expect(response.headers.get('content-length')).toBe('7')
  })
})

test('a client that disconnects aborts the request to the service', async () => {
  const request = open('/itsm/incidents', 'GET')
  request.on('error', () => undefined)
  const aborted = new Promise<void>((resolve) => {
    platform.itsm.handler = (_incoming, response) => {
      response.once('close', resolve)
      request.destroy()
    }
  })
  request.end()
  await aborted
})

describe('a service', () => {
  test('that does not answer causes an upstream_timeout', async () => {
    const impatient = await startPlatform({ upstreamTimeoutMs: 2_000 })
    impatient.itsm.handler = () => undefined
    const reply = await call(`${impatient.url}/api/v1/itsm/incidents`, { headers: asAda })
    expect(reply).toMatchObject({ status: 504, code: 'upstream_timeout' })
    await impatient.stop()
  })

  test('that closes the connection of a GET receives the request once more', async () => {
    platform.itsm.handler = (request, response) => {
      platform.itsm.handler = echo
      request.socket.destroy()
      response.destroy()
    }
    const reply = await call(`${platform.url}/api/v1/itsm/incidents`, { headers: asAda })
    expect(reply.status).toBe(200)
    expect(platform.itsm.requests).toHaveLength(2)
  })

  test('that closes the connection of a POST does not receive the request again', async () => {
    platform.itsm.handler = (request) => request.socket.destroy()
    expect(await post('/itsm/incidents', 2)).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(platform.itsm.requests).toHaveLength(1)
  })

  test('that does not answer in HTTP causes an upstream_error', async () => {
    platform.itsm.handler = (request) => request.socket.end('what?\r\n\r\n')
    const reply = await call(`${platform.url}/api/v1/itsm/incidents`, { headers: asAda })
    expect(reply).toMatchObject({ status: 502, code: 'upstream_error' })
  })

  test('that is down causes service_unavailable, and is reached again once it is up', async () => {
    await platform.dispatcher.close()
    const down = await call(`${platform.url}/api/v1/webhooks`, { headers: asAda })
    expect(down).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(down.headers.get('retry-after')).toBe('1')
    platform.dispatcher = await startUpstream(echo, platform.dispatcher.port)
    expect((await call(`${platform.url}/api/v1/webhooks`, { headers: asAda })).status).toBe(200)
  })
})

test('a gateway that stops rejects waiting polls and completes other requests', async () => {
  const stopping = await startPlatform()
  const get = (path: string) => call(`${stopping.url}/api/v1${path}`, { headers: asAda })
  const polling = new Promise<void>((resolve) => {
    stopping.dispatcher.handler = () => resolve()
  })
  const working = new Promise<() => void>((resolve) => {
    stopping.itsm.handler = (_request, response) => resolve(() => response.end('{"data":{}}'))
  })
  const poll = get('/events/topics/orders/events?timeout=20000')
  const other = get('/itsm/incidents')
  await polling
  const answerOther = await working
  const stopped = stopping.gateway.stop()
  const refused = await poll
  expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' })
  answerOther()
  expect((await other).status).toBe(200)
  await stopped
  await stopping.stop()
})

test.each([
  ['what is not HTTP', 'nonsense\r\n\r\n', 400],
  ['oversized headers', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('%s is answered with the error envelope', async (_what, bytes, status) => {
  const socket = connect(platform.gateway.port, '127.0.0.1')
  socket.write(bytes)
  const answer = await text(socket)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).error.status).toBe(status)
})

test('a long-running answer is cut off once its caller has lost access', async () => {
  let send: (text: string) => void = () => {}
  platform.dispatcher.handler = (_incoming, response) => {
    send = (text) => response.write(text)
    send('first;')
  }
  const { promise: ended, resolve: end } = deferred<string>()
  const request = open('/events/topics/news/events', 'GET')
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let read = ''
  const arrived = (text: string) =>
    waitFor(() => read.endsWith(text), { message: `${text} after ${JSON.stringify(read)}` })
  response.on('data', (chunk) => {
    read += chunk
  })
  response.once('error', () => end(read)).once('end', () => end(read))
  await arrived('first;')
  platform.pass(2_000)
  send('second;')
  await arrived('second;')
  platform.verify = () => {
    throw new ApiError('invalid_token', 'It was revoked.')
  }
  platform.pass(2_000)
  send('third;')
  expect(await ended).toBe('first;second;')
})
