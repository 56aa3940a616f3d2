import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { applyMutant } from './mutate.js'
import { mutants } from './table.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

const testsIn = (folder: string) => readdirSync(root + folder).filter((name) => name.endsWith('.test.js'))

test.each(mutants)('$name: its search text occurs once in the source, and it has tests', (mutant) => {
  const source = readFileSync(`${root}${mutant.file}`, 'utf8')
  expect(applyMutant(source, mutant)).not.toBe(source)
  for (const path of mutant.tests)
    expect(testsIn(dirname(path)).filter((name) => name.startsWith(basename(path)))).toHaveLength(1)
  if (mutant.title !== undefined)
    expect(mutant.tests.map((path) => readFileSync(`${root}${path}.test.js`, 'utf8')).join()).toContain(
      mutant.title,
    )
})

test('a mutant whose search text is missing or occurs twice is rejected', () => {
  const [mutant] = mutants
  if (!mutant) throw new Error('there are no mutants')
  for (const source of ['', mutant.search.repeat(2)])
    expect(() => applyMutant(source, mutant)).toThrow('instead of once')
})
