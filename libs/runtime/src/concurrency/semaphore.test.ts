import { expect, it } from '@jest/globals'
import { createSemaphore } from './semaphore.js'

it('callers with many tasks take turns with callers that arrive later', async () => {
  const semaphore = createSemaphore(1)
  const done: string[] = []
  const pieces = async (who: string, count: number) => {
    for (let piece = 1; piece <= count; piece++)
      await semaphore(async () => {
        done.push(`${who} ${piece}`)
      })
  }
  await Promise.all([pieces('long', 4), pieces('other', 3), pieces('short', 1)])
  expect(done.indexOf('short 1')).toBeLessThan(done.indexOf('long 2'))
  expect(done.indexOf('other 3')).toBeLessThan(done.indexOf('long 4'))
  await expect(semaphore(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  await expect(semaphore(async () => 'next')).resolves.toBe('next')
})

it('rejects callers above the limit of waiting callers', async () => {
  const semaphore = createSemaphore(1, { max: 1, refusal: () => new Error('full') })
  let end = () => {}
  const first = semaphore(
    () =>
      new Promise<void>((resolve) => {
        end = resolve
      }),
  )
  const second = semaphore(async () => 'second')
  await expect(semaphore(async () => 'third')).rejects.toThrow('full')
  end()
  await first
  await expect(second).resolves.toBe('second')
})
