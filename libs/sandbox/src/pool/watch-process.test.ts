import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { watchProcess } from './watch-process.js'

const server = createServer()
let near: Socket
let far: Socket
beforeEach(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  near = connect((server.address() as { port: number }).port, '127.0.0.1')
  await once(near, 'connect')
  far = (await accepted)[0] as Socket
})
afterEach(() => {
  near.destroy()
  far.destroy()
  server.close()
})

const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** A process of which only the elapsed time is known. */
const watched = { pid: 0, deadlineMs: 100, residentBytes: 1 }

test('an answer that arrived while the parent was blocked meets its deadline', async () => {
  const passed: string[] = []
  const unwatch = watchProcess({ ...watched, onPassed: (limit) => passed.push(limit) })
  const answered = once(near, 'data').then(unwatch)
  far.write('answer')
  standStill(1_000)
  await answered
  await new Promise((resolve) => setImmediate(resolve))
  expect(passed).toEqual([])
})

test('a process that never answers exceeds its deadline', async () => {
  const passed = await new Promise((resolve) => {
    const unwatch = watchProcess({
      ...watched,
      onPassed(limit) {
        unwatch()
        resolve(limit)
      },
    })
  })
  expect(passed).toBe('deadline')
})
