import { expect, it } from '@jest/globals'
import { parseTemplate } from '@opsplane/sandbox'
import { findMembers } from './templates.js'

const namesIn = (source: string) => {
  const parsed = parseTemplate(`{{ ${source} }}`)
  if (!('template' in parsed)) throw new Error('no template')
  return findMembers({ path: [], template: parsed.template }, ['params']).map(({ name }) => name)
}

it.each([
  ['params.site & params . `two words`', ['site', 'two words']],
  ['"params.a" & \'params.b\' & params.c', ['c']],
  ["/* it's params.a */ params.b", ['b']],
  ['rows.params.a', []],
])('finds the members that %s refers to', (source, names) => {
  expect(namesIn(source)).toEqual(names)
})

// This would take minutes if the scan restarted at each quotation mark.
it('scans an expression only once', () => {
  const source = `/* "${'\\"'.repeat(500_000)} */ params.a`
  const template = { expressions: [{ source, path: '' }] } as unknown as Parameters<
    typeof findMembers
  >[0]['template']
  expect(findMembers({ path: [], template }, ['params']).map(({ name }) => name)).toEqual(['a'])
})
