import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { knownVariables } from './variables.js'
import { renderVariablesPage, variablesPagePath } from './variables-page.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const page = renderVariablesPage(root)

test('the generated page of all variables is up to date: `npm run variables` writes it', () => {
  expect(readFileSync(`${root}${variablesPagePath}`, 'utf8')).toBe(page)
})

test('the page states the readers and the meaning of every variable', () => {
  const rows = new Map(
    page.split('\n').flatMap((line) => {
      const [, name, ...cells] = /^\| `([A-Z0-9_]+)` \| (.+) \| (.*) \| (.*) \|$/.exec(line) ?? []
      return name === undefined ? [] : [[name, cells] as const]
    }),
  )
  expect([...rows.keys()].toSorted()).toEqual(knownVariables().toSorted())
  expect([...rows].filter(([, [readers, , meaning]]) => !readers || !meaning).map(([name]) => name)).toEqual(
    [],
  )
  expect(rows.get('LOG_LEVEL')?.[0]).toBe('all')
  expect(rows.get('OPSPLANE_HOME')?.[0]).toBe('`npm start`')
})
