import { expect, test } from '@jest/globals'
import { createKeyedSemaphore } from './semaphore.js'

test('runs tasks of one key one after another, also after a failure, without delaying other keys', async () => {
  const queue = createKeyedSemaphore(1)
  const order: string[] = []
  let open: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const first = queue('a', async () => {
    await gate
    order.push('a1')
    throw new Error('a1 fails')
  })
  const second = queue('a', async () => order.push('a2'))
  await queue('b', async () => order.push('b1'))
  open()
  await expect(first).rejects.toThrow('a1 fails')
  await second
  expect(order).toEqual(['b1', 'a1', 'a2'])
})
