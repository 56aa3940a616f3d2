import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

const stages = ['events', 'match', 'enqueue', 'send', 'record']
const source = (stage: string) => new URL(`../../src/delivery/${stage}/`, import.meta.url)

/** The stages from which a stage imports values, not only types. */
const importsOf = (stage: string) =>
  readdirSync(source(stage))
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) => [
      ...readFileSync(new URL(file, source(stage)), 'utf8').matchAll(
        /^import (?!type )(?:[^'])*'\.\.\/(\w+)\/[\w-]+\.js'/gm,
      ),
    ])
    .flatMap(([, imported = '']) => (stages.includes(imported) ? imported : []))

test.each(stages)('the stage %s imports no earlier stage', (stage) => {
  const earlier = stages.slice(0, stages.indexOf(stage))
  expect(importsOf(stage).filter((imported) => earlier.includes(imported))).toEqual([])
})

test('the test detects imports between stages', () => {
  expect(importsOf('send')).toContain('record')
})
