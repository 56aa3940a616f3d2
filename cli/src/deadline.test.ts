import { expect, test } from '@jest/globals'
import { abortable } from './deadline.js'

const never = new Promise<never>(() => {})

test('rejects pending work when any of its signals aborts', async () => {
  const [first, second] = [new AbortController(), new AbortController()]
  const outcome = abortable(never, first.signal, undefined, second.signal)
  second.abort(new Error('enough'))
  await expect(outcome).rejects.toThrow('enough')
  await expect(abortable(never, second.signal)).rejects.toThrow('enough')
})

test('passes on the result or error of work that ends before its signal aborts', async () => {
  const { signal } = new AbortController()
  expect(await abortable(Promise.resolve(7), signal)).toBe(7)
  await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
})
