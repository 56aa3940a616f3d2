import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { sourcesBelow } from './imports.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const theOne = 'libs/contracts/src/core/moment.ts'

/** A hand-written schema of instants or dates in requests. Schemas of responses have three decimals and no offset. */
const handMade =
  /\biso\s*\.date\(|\biso\s*\.(?:datetime|time)\(\s*\{[^}]*offset|\bz\.coerce\.date\(|\bz\.date\(/

test.each([
  ['z.iso.datetime({ offset: true })', true],
  ['z.iso\n  .datetime({\n    error, offset: true })', true],
  ['z.iso.date()', true],
  ['z.coerce.date()', true],
  ['z.iso.datetime({ precision: 3 })', false],
])('%j defines its own schema of instants or dates: %s', (source, is) => {
  expect(handMade.test(source)).toBe(is)
})

test('instants and dates in requests have one shared schema each', () => {
  const sources = ['libs', 'services', 'deploy', 'cli'].flatMap((folder) =>
    sourcesBelow(`${root}${folder}`).map((file) => `${folder}/${file}`),
  )
  expect(sources).toContain(theOne)
  const found = sources.filter(
    (path) =>
      path !== theOne && !path.includes('.test.') && handMade.test(readFileSync(`${root}${path}`, 'utf8')),
  )
  expect(found).toEqual([])
})
