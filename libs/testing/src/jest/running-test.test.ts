import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { RunningTest } from './running-test.js'

test('a context lasts until its work has ended, even if the work fails', async () => {
  const running = new RunningTest<string>()
  const seen: (string | undefined)[] = [running.getStore()]
  const see = () => seen.push(running.getStore())
  const result = await running.run('test', async () => {
    await turn()
    see()
    const failed = running.run('hook', async () => {
      await turn()
      see()
      throw new Error('lost')
    })
    await expect(failed).rejects.toThrow('lost')
    see()
    return 'done'
  })
  see()
  expect(result).toBe('done')
  expect(seen).toEqual([undefined, 'test', 'hook', 'test', undefined])
})

test('Jest knows by it which test runs', async () => {
  await turn()
  const { currentConcurrentTestName } = expect.getState()
  expect(currentConcurrentTestName?.()).toContain('Jest knows by it which test runs')
})
