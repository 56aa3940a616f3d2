import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { limitHeapGrowth, startDeadline } from './index.js'

/** Holds no reference to the deadline's signal. */
const reasonOf = (ms: number) =>
  new Promise<unknown>((resolve) => {
    const { signal } = startDeadline(ms, new AbortController().signal)
    signal.addEventListener('abort', () => resolve(signal.reason))
  })

test('a deadline combined with other signals fires even after a garbage collection', async () => {
  const reason = reasonOf(100)
  // A weakly referenced object that was accessed is kept until the end of the turn.
  await new Promise(setImmediate)
  // Runs a full garbage collection.
  limitHeapGrowth(100)()
  expect(await reason).toMatchObject({ name: 'TimeoutError' })
})

test('a deadline that is cleared does not fire', async () => {
  const { signal, clear } = startDeadline(1)
  clear()
  await reasonOf(10)
  expect(signal.aborted).toBe(false)
})

test('data that arrived while the process was blocked is in time', async () => {
  const server = createServer((socket) => void socket.write('answer')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const answered = once(socket, 'data')
  await once(server, 'connection')
  const { signal, clear } = startDeadline(100)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  await answered.then(clear)
  await new Promise(setImmediate)
  expect(signal.aborted).toBe(false)
  socket.destroy()
  server.close()
})
