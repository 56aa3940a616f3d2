import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { asAda, call, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
let sockets: Socket[] = []

beforeEach(async () => {
  platform = await startPlatform({
    trustProxyCidrs: ['127.0.0.0/8'],
    anonymousRateLimitPerMinute: 0,
    bodyTimeoutMs: 300,
  })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  await platform.stop()
})

/** Sends a request whose body never arrives. */
async function idle(path: string, headers: Record<string, string>): Promise<Socket> {
  const socket = connect(Number(new URL(platform.url).port), '127.0.0.1')
  sockets.push(socket)
  await once(socket, 'connect')
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`)
  const first = 'Transfer-Encoding' in headers ? '1\r\n{\r\n' : '{'
  socket.write([`POST /api/v1${path} HTTP/1.1`, ...lines, '', first].join('\r\n'))
  return socket
}

const logIn = (address: string) =>
  call(`${platform.url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'X-Forwarded-For': address },
    body: '{}',
  })

test('logins with incomplete bodies occupy no slots', async () => {
  for (let at = 0; at < 40; at++) {
    const headers = { 'X-Forwarded-For': `203.0.113.${at}` }
    await idle('/auth/token', { ...headers, 'Content-Length': '100' })
    await idle('/auth/token', { ...headers, 'Transfer-Encoding': 'chunked' })
  }
  expect((await logIn('203.0.113.200')).status).toBe(200)
  expect(platform.settings.requests.filter(({ url }) => url === '/auth/token')).toHaveLength(1)
})

test.each<[string, Record<string, string>]>([
  ['without a token', { 'Content-Length': '100' }],
  ['without a token, of unknown length', { 'Transfer-Encoding': 'chunked' }],
  ['with a token', { ...asAda, 'Content-Length': '100' }],
])('a body %s that does not arrive in time is answered with 408', async (_who, headers) => {
  const path = 'Authorization' in headers ? '/itsm/incidents' : '/auth/token'
  const socket = await idle(path, headers)
  let text = ''
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString()
  })
  await waitFor(() => text.includes('"meta"'))
  expect(text).toMatch(/^HTTP\/1\.1 408 /)
  expect(text).toContain('"code":"request_timeout"')
  expect(text.toLowerCase()).toContain('x-content-type-options: nosniff')
})

test('the addresses of one IPv6 network share their slots', async () => {
  const { handler } = platform.settings
  const waiting: (() => void)[] = []
  platform.settings.handler = (request, response) => {
    if (request.url !== '/auth/token') return handler(request, response)
    waiting.push(() => response.end('{"data":{}}'))
  }
  const under = Array.from({ length: 8 }, (_, at) => logIn(`2001:db8:1:2::${at + 1}`))
  await waitFor(() => waiting.length === 8)
  expect((await logIn('2001:db8:1:2:ffff::1')).status).toBe(503)
  const other = logIn('2001:db8:1:3::1')
  await waitFor(() => waiting.length === 9)
  for (const answer of waiting) answer()
  expect((await Promise.all([...under, other])).map(({ status }) => status)).toEqual(Array(9).fill(200))
})
