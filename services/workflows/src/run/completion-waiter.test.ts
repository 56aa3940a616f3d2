import { afterEach, expect, test } from '@jest/globals'
import type { Database } from '@opsplane/postgres'
import { type CompletionWaiter, createCompletionWaiter, type RunEnd } from './completion-waiter.js'

const longMs = 60_000
const end: RunEnd = { status: 'completed', output: 42, error: null }
/** No run has ended in another replica. */
const sql = { unsafe: async () => [] } as unknown as Database['sql']
let waiter: CompletionWaiter
const open = () => {
  waiter = createCompletionWaiter(sql, () => true)
  return waiter
}
afterEach(() => waiter.close())

test('all waiters of a run receive its outcome', async () => {
  const { wait, ended } = open()
  const waiting = [wait('run_a', longMs), wait('run_a', longMs)]
  const other = wait('run_b', longMs)
  ended('run_a', end)
  expect(await Promise.all(waiting)).toEqual([end, end])
  ended('run_b', { ...end, output: null })
  expect(await other).toEqual({ ...end, output: null })
})

test('a waiter that times out or disconnects receives undefined, and the others keep waiting', async () => {
  const { wait, ended } = open()
  const going = new AbortController()
  const [gone, other] = [wait('run_a', longMs, going.signal), wait('run_a', longMs)]
  const late = wait('run_a', 1)
  going.abort()
  expect(await gone).toBeUndefined()
  expect(await late).toBeUndefined()
  expect(await wait('run_a', longMs, going.signal)).toBeUndefined()
  ended('run_a', end)
  expect(await other).toEqual(end)
})

test('all waiters receive undefined when the service stops', async () => {
  const { wait, close } = open()
  const waiting = [wait('run_a', longMs), wait('run_b', longMs)]
  close()
  expect(await Promise.all(waiting)).toEqual([undefined, undefined])
  expect(await wait('run_a', longMs)).toBeUndefined()
})

test('a paused run resolves the waiters for a pause or end, but not the waiters for its end only', async () => {
  const { wait, waitForRest, ended } = open()
  const [rest, whole] = [waitForRest('run_a', longMs), wait('run_a', longMs)]
  const paused: RunEnd = { status: 'paused', output: null, error: null }
  ended('run_a', paused)
  expect(await rest).toEqual(paused)
  const late = waitForRest('run_a', longMs)
  ended('run_a', end)
  expect(await Promise.all([whole, late])).toEqual([end, end])
})
