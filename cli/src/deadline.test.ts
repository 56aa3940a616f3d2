import { expect, test } from '@jest/globals'
import { abortable } from './deadline.js'

const never = new Promise<never>(() => {})

test('work that does not end is given up when any of the signals aborts', async () => {
  const [first, second] = [new AbortController(), new AbortController()]
  const outcome = abortable(never, first.signal, undefined, second.signal)
  second.abort(new Error('enough'))
  await expect(outcome).rejects.toThrow('enough')
  await expect(abortable(never, second.signal)).rejects.toThrow('enough')
})

test('work that ends has its own outcome', async () => {
  const { signal } = new AbortController()
  expect(await abortable(Promise.resolve(7), signal)).toBe(7)
  await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
})
