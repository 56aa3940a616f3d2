import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { filesIn, findTestFault, testsIn } from './named-files.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const documents = [
  'docs',
  'docs/adr',
  'docs/development',
  'docs/guide',
  'docs/runbooks',
  'bench/results',
].flatMap((folder) =>
  readdirSync(`${root}${folder}`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
)

test.each(['README.md', ...documents])('%s: names files that exist', (document) => {
  expect(filesIn(read(document)).filter((path) => !existsSync(`${root}${path}`))).toEqual([])
})

test('docs/architecture.md: describes the path from a new incident to its webhook in at most 40 files', () => {
  const walk = read('docs/architecture.md').split('\n## ')[1] ?? ''
  expect(filesIn(walk).length).toBeGreaterThan(30)
  expect(filesIn(walk).length).toBeLessThanOrEqual(40)
})

describe('docs/security.md', () => {
  const tests = testsIn(read('docs/security.md'), root)

  test('names more than 150 tests for its promises', () => {
    expect(tests.length).toBeGreaterThan(150)
  })

  test('names existing tests and titles', () => {
    expect(tests.flatMap((each) => findTestFault(each, root) ?? [])).toEqual([])
  })

  test('is checked for missing tests and titles', () => {
    const row =
      '| A promise | `libs/testing/src/layout/named-files.test.ts`, "docs/security.md", "not there"; `gone.test.ts` |'
    expect(
      testsIn(row.replace('not there', `not ${'there'}`), root).map((each) => findTestFault(each, root)),
    ).toEqual([undefined, 'libs/testing/src/gone.test.ts does not exist'])
    const absent = ['absent', 'title'].join(' ')
    expect(
      findTestFault({ file: 'libs/testing/src/layout/named-files.test.ts', titles: [absent] }, root),
    ).toContain(absent)
  })
})
