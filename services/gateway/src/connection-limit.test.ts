import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { asAda, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await platform.stop()
})

/** A connection, and all bytes received on it. */
async function open() {
  const { hostname, port } = new URL(platform.url)
  const socket = connect(Number(port), hostname)
  const seen = { text: '', closed: false }
  sockets.push(socket)
  socket.on('data', (chunk) => {
    seen.text += chunk
  })
  socket.on('error', () => undefined)
  socket.once('close', () => {
    seen.closed = true
  })
  await once(socket, 'connect')
  return { socket, seen }
}
type Connection = Awaited<ReturnType<typeof open>>

const headers = Object.entries({ ...asAda, Host: 'api.test' }).map(([name, value]) => `${name}: ${value}`)
const request = ['GET /api/v1/itsm/incidents HTTP/1.1', ...headers, '', ''].join('\r\n')
/** Head and body of the single response on a connection; empty if it is closed before. */
async function ask({ socket, seen }: Connection): Promise<string> {
  seen.text = ''
  socket.write(request)
  await waitFor(() => /\r\n\r\n.*\}/s.test(seen.text) || seen.closed)
  return seen.text
}

test('a network has a limited number of connections, used or idle; a closed connection admits another', async () => {
  platform = await startPlatform({ connectionsPerAddress: 2 })
  const [idle, used] = [await open(), await open()]
  expect(await ask(used)).toMatch(/^HTTP\/1.1 200 /)

  // A connection above the limit gets a response only if it sends a request in the second before it is closed.
  const { refused, answer } = await waitFor(async () => {
    const refused = await open()
    const answer = await ask(refused)
    return answer !== '' && { refused, answer }
  })
  expect(answer).toMatch(/^HTTP\/1.1 429 /)
  expect(answer).toMatch(/^connection: close\r$/im)
  expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im)
  expect(answer).toContain('"code":"rate_limited"')
  expect(answer).toContain('"limit":"connectionsPerAddress"')
  await waitFor(() => refused.seen.closed)
  // Clients that send nothing cannot keep a connection.
  const silent = await open()
  await waitFor(() => silent.seen.closed)

  expect(await ask(used)).toMatch(/^HTTP\/1.1 200 /)
  idle.socket.destroy()
  await waitFor(async () => (await ask(await open())).startsWith('HTTP/1.1 200 '))
})

test('a trusted proxy has no limit of connections', async () => {
  platform = await startPlatform({ connectionsPerAddress: 1, trustProxyCidrs: ['127.0.0.0/8'] })
  const connections = [await open(), await open(), await open()]
  for (const connection of connections) expect(await ask(connection)).toMatch(/^HTTP\/1.1 200 /)
})
