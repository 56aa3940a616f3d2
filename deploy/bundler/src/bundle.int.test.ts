import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { bringUpToDate } from './up-to-date.js'

const entry = 'services/app/dist/main.js'
const roots: string[] = []
let root: string

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const main = (text: string) => write('services/app/dist/main.js', text)
const update = () => bringUpToDate({ root, entries: [entry], stampFile: join(root, 'stamp.json') })
const folder = () => join(root, 'services/app/bundle')
const run = () => spawnSync(process.execPath, [join(folder(), 'main.cjs')], { encoding: 'utf8' })

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'opsplane-bundle-'))
  roots.push(root)
  write('pnpm-lock.yaml', 'packages: 1')
  write('services/app/package.json', '{"type":"module"}')
})
afterAll(() => {
  for (const made of roots) rmSync(made, { recursive: true, force: true })
})

test('a bundle runs without the sources of its imports, and runs a dynamic import on its first use', async () => {
  write('libs/words/dist/late.js', `console.log('late'); export const late = 'used'`)
  write(
    'libs/words/dist/index.js',
    `export const word = 'hello'; export const later = () => import('./late.js')`,
  )
  main(`import { later, word } from '../../../libs/words/dist/index.js'
    console.log(word)
    later().then(({ late }) => console.log(late))`)
  expect(await update()).toEqual([entry])
  rmSync(join(root, 'libs'), { recursive: true })
  expect(run().stdout).toBe('hello\nlate\nused\n')
})

test('a bundle preserves non-ASCII characters of its sources', async () => {
  main(`const tag = ([text]) => text
    console.log('Ж', tag\`ж😀\`, '5µs'.replace(/µ/, 'u'), /😀/u.test('😀')) // ’`)
  await update()
  expect(run().stdout).toBe('Ж ж😀 5us true\n')
})

test('a bundle finds files relative to its modules and its packages', async () => {
  write('libs/store/migrations/1.sql', 'create table')
  write(
    'libs/store/dist/index.js',
    `import { readFileSync } from 'node:fs'
     export const sql = readFileSync(new URL('../migrations/1.sql', import.meta.url), 'utf8')`,
  )
  write('node_modules/wasm/package.json', '{"main":"index.js"}')
  write(
    'node_modules/wasm/index.js',
    `'use strict'; exports.place = require('node:path').join(__dirname, 'a.wasm')`,
  )
  write('node_modules/lazy/package.json', '{"main":"index.js"}')
  write('node_modules/lazy/index.js', `module.exports = typeof __filename`)
  main(`import { createRequire } from 'node:module'
import { place } from 'wasm'
import { sql } from '../../../libs/store/dist/index.js'
const require = createRequire(import.meta.url);
console.log(sql, place, require('lazy'))`)
  await update()
  expect(run().stdout).toBe(`create table ${join(root, 'node_modules/wasm/a.wasm')} string\n`)
})

test('a bundle reports source files and lines in stack traces', async () => {
  // A source map that maps line 3 of the compiled file to line 41 of `src/main.ts`.
  const map = { version: 3, file: 'main.js', sources: ['../src/main.ts'], names: [], mappings: ';;AAwCA' }
  main(`\n\nthrow new Error('lost')\n//# sourceMappingURL=main.js.map`)
  write('services/app/dist/main.js.map', JSON.stringify(map))
  await update()
  const { status, stderr } = run()
  expect(status).toBe(1)
  expect(stderr).toContain('Error: lost')
  expect(stderr).toContain(`${join(root, 'services/app/src/main.ts')}:41`)
})

test('a bundle is rebuilt after a change of a module, manifest or package, or if it is missing', async () => {
  write('libs/words/dist/index.js', `export const word = 'one'`)
  write('libs/words/package.json', '{"type":"module"}')
  main(`import { word } from '../../../libs/words/dist/index.js'; console.log(word)`)
  expect(await update()).toEqual([entry])
  expect(await update()).toEqual([])
  const changes = [
    () => write('libs/words/dist/index.js', `export const word = 'two'`),
    () => write('libs/words/package.json', '{"type":"module","sideEffects":false}'),
    () => write('pnpm-lock.yaml', 'packages: 2'),
    () => rmSync(join(folder(), 'main.cjs')),
  ]
  for (const change of changes) {
    change()
    expect([await update(), await update()]).toEqual([[entry], []])
  }
  expect(run().stdout).toBe('two\n')
})

test('only the bundle that contains a changed module is rebuilt', async () => {
  const other = 'services/other/dist/main.js'
  const both = () => bringUpToDate({ root, entries: [entry, other], stampFile: join(root, 'stamp.json') })
  write('services/other/package.json', '{"type":"module"}')
  write('libs/words/dist/index.js', `export const word = 'one'`)
  write(other, `console.log('other')`)
  main(`import { word } from '../../../libs/words/dist/index.js'; console.log(word)`)
  expect(await both()).toEqual([entry, other])
  write('libs/words/dist/index.js', `export const word = 'two'`)
  expect(await both()).toEqual([entry])
  expect(await both()).toEqual([])
})

test('a rebuild removes the files of the previous bundle, including its code cache', async () => {
  main(`console.log('aaa')`)
  await update()
  const before = readdirSync(folder())
  main(`console.log('bbb')`)
  await update()
  const after = readdirSync(folder())
  expect(after.length).toBe(before.length)
  expect(after.filter((name) => before.includes(name))).toEqual(['main.cjs'])
  expect(run().stdout).toBe('bbb\n')
})

test('a bundling error names the missing module, and the next build fails again', async () => {
  main(`import './missing.js'`)
  await expect(update()).rejects.toThrow('missing.js')
  await expect(update()).rejects.toThrow('missing.js')
})
