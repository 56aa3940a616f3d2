import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { compile } from '@opsplane/bundler/compile'

const roots: string[] = []
let root: string

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const update = () => compile(root)
const words = 'libs/words/src/words.ts'
const loan = 'services/lending/src/loan/domain.ts'

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'opsplane-compile-'))
  roots.push(root)
  write('libs/words/tsconfig.json', '{}')
  write('services/lending/tsconfig.json', '{}')
  write(words, `export const word: string = 'one'`)
  write(loan, `import type { A } from './a.js'\nexport const loan = (a: A) => a`)
  await update()
})
afterAll(() => {
  for (const made of roots) rmSync(made, { recursive: true, force: true })
})

test('compiles each source to one module with a source map', () => {
  expect(read('libs/words/dist/words.js')).toBe(
    `const word = "one";\nexport {\n  word\n};\n//# sourceMappingURL=words.js.map\n`,
  )
  expect(JSON.parse(read('services/lending/dist/loan/domain.js.map')).sources).toEqual([
    '../../src/loan/domain.ts',
  ])
})

test('recompiles only sources that changed, even to an older file, or that have no output', async () => {
  expect(await update()).toEqual({ compiled: [], removed: 0 })
  const changes: [() => void, string[]][] = [
    [() => write(words, `export const word: string = 'another'`), [words]],
    // Restored from a backup, for example: older than the output compiled from the previous file.
    [() => utimesSync(join(root, words), 1, 1), [words]],
    [() => rmSync(join(root, 'services/lending/dist/loan/domain.js')), [loan]],
    [() => rmSync(join(root, 'libs/words/dist'), { recursive: true }), [words]],
    [() => write('libs/words/tsconfig.json', '{"compilerOptions":{}}'), [words]],
    [() => write('libs/words/src/more.tsx', 'export {}'), ['libs/words/src/more.tsx']],
  ]
  for (const [change, compiled] of changes) {
    change()
    expect(await update()).toEqual({ compiled, removed: 0 })
    expect(await update()).toEqual({ compiled: [], removed: 0 })
  }
  expect(read('libs/words/dist/words.js')).toContain('another')
})

test('removes the output of a deleted source', async () => {
  write('libs/words/src/other.ts', 'export {}')
  await update()
  rmSync(join(root, words))
  expect(await update()).toEqual({ compiled: [], removed: 2 })
  expect(existsSync(join(root, 'libs/words/dist/words.js'))).toBe(false)
  expect(existsSync(join(root, 'libs/words/dist/other.js'))).toBe(true)
})

test('reports the position of a syntax error, and compiles the source again on the next run', async () => {
  write(words, 'export const word = one two')
  write(loan, 'export const loan = 1')
  await expect(update()).rejects.toThrow('libs/words/src/words.ts:1:24')
  write(words, 'export const word = 2')
  expect((await update()).compiled).toEqual([words, loan])
})
