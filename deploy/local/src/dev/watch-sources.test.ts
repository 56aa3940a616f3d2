import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { watchSources } from './watch-sources.js'

let root: string
let calls: number
let watching: { close(): void }
let work: () => Promise<void>
const source = (name: string) => join(root, 'libs/words/src', name)

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'opsplane-watch-'))
  mkdirSync(source('loan'), { recursive: true })
  writeFileSync(join(root, 'libs/words/tsconfig.json'), '{}')
  for (const name of ['word.ts', 'loan/domain.ts', 'gone.ts']) writeFileSync(source(name), '')
  calls = 0
  work = async () => {}
  watching = watchSources(root, async () => {
    calls++
    await work()
  })
})
afterEach(() => {
  watching.close()
  rmSync(root, { recursive: true, force: true })
})

const called = (times: number) => waitFor(() => calls >= times)

test.each<[string, () => void]>([
  ['written', () => writeFileSync(source('word.ts'), 'one')],
  ['written in a folder', () => writeFileSync(source('loan/domain.ts'), 'one')],
  ['made', () => writeFileSync(source('new.ts'), 'one')],
  ['removed', () => rmSync(source('gone.ts'))],
  [
    'replaced, as editors do',
    () => {
      writeFileSync(join(root, 'written'), 'one')
      renameSync(join(root, 'written'), source('loan/domain.ts'))
    },
  ],
])('detects a source that is %s', async (_how, change) => {
  change()
  await called(1)
})

test('detects a source in a folder created later', async () => {
  mkdirSync(source('later/on'), { recursive: true })
  await called(1)
  const before = calls
  writeFileSync(source('later/on/new.ts'), 'one')
  await called(before + 1)
})

test('runs once more after a change during a run, and never concurrently', async () => {
  let atOnce = 0
  let most = 0
  let end = () => {}
  work = async () => {
    most = Math.max(most, ++atOnce)
    if (calls === 1) await new Promise<void>((resolve) => (end = resolve))
    atOnce--
  }
  writeFileSync(source('word.ts'), 'one')
  await called(1)
  writeFileSync(source('word.ts'), 'two')
  end()
  await called(2)
  expect(most).toBe(1)
})
