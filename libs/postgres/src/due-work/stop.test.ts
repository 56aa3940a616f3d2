import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'

test('a failure while work is stopped is thrown by the stop, even though a round is still running', () => {
  // Runs in a separate process, which an unhandled rejection ends.
  const program = `
    import { createDueWork } from '@opsplane/postgres'
    const sql = { unsafe: async () => [{ w0: 0 }] }
    const log = { warn() {}, info() {}, error() {} }
    const [begun, ended] = [{}, {}]
    for (const each of [begun, ended]) each.promise = new Promise((resolve) => { each.resolve = resolve })
    const group = createDueWork({ sql, log })
    group.start(() => ({
      options: { name: 'jobs' },
      nextDue: 'now()',
      fruitless: 0,
      round() {
        begun.resolve()
        return ended.promise
      },
      drain: async () => {
        throw new Error('not drained')
      },
    }))
    await begun.promise
    const closed = group.close(0)
    const said = closed.catch(({ message }) => message)
    await new Promise(setImmediate)
    ended.resolve(false)
    console.log(await said)`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  })
  expect(said.trim()).toBe('not drained')
})
