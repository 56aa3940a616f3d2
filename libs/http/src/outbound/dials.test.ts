import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { createOutbound, type Outbound } from './outbound.js'

/** Accepts connections and never says a word: no handshake ends. */
const mute = createServer((socket) => {
  sockets.push(socket)
  socket.on('error', () => socket.destroy())
})
const sockets: Socket[] = []
let guard: Outbound
let url: string

beforeAll(async () => {
  mute.listen(0, '127.0.0.1')
  await once(mute, 'listening')
  url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/`
  guard = createOutbound({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true })
})
afterAll(async () => {
  await guard.close()
  for (const socket of sockets) socket.destroy()
  mute.close()
})

it('opens few connections to a server at a time, and gives up in time what waits for one', async () => {
  const request = { url, method: 'POST' as const, headers: {}, body: '{}', maxResponseBytes: 1_024 }
  const stop = new AbortController()
  const patient = Array.from({ length: 8 }, () =>
    guard.request({ ...request, timeoutMs: 60_000, signal: stop.signal }).catch(() => {}),
  )
  const hasty = Array.from({ length: 20 }, () => guard.request({ ...request, timeoutMs: 300 }))
  for (const each of hasty) await expect(each).rejects.toMatchObject({ kind: 'timeout' })
  expect(sockets).toHaveLength(8)
  stop.abort()
  await Promise.all(patient)
})
