import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { startedForRun } from './run-process.js'
import { uniquePrefix } from './test-env.js'

let name: string
let folder: string

/** The state a worker leaves when it is about to start the program. */
beforeEach(() => {
  name = uniquePrefix()
  folder = join(tmpdir(), 'run-processes', name)
  mkdirSync(folder, { recursive: true })
  write('log', 'no room')
})
// The end of the run ends all processes whose files it finds there.
afterEach(() => rmSync(folder, { recursive: true }))

const write = (file: string, text: string) => writeFileSync(join(folder, file), text)

test('a program without a recorded pid is still starting', async () => {
  write('pid', '')
  const outcome = startedForRun(name, 'program.js').catch(String)
  // By then the state has been checked.
  await turn()
  write('ready', 'handed over')
  expect(await outcome).toBe('handed over')
})

test('a program that ends before it is ready fails the waiting tests with its log', async () => {
  // No system assigns such a large pid.
  write('pid', '2147483647')
  await expect(startedForRun(name, 'program.js')).rejects.toThrow('program.js ended: no room')
})
