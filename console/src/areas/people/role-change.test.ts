import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { comparePermissions, formatSome, groupPermissions } from './role-change.js'

const names = fc.uniqueArray(
  fc.constantFrom('itsm:read', 'itsm:write', 'apps:use', 'audit:read', 'runs:read'),
)

test('a role change lists exactly the removed and added permissions', () => {
  fc.assert(
    fc.property(names, names, (before, after) => {
      const { removed, added } = comparePermissions(before, after)
      const changed = [...before.filter((name) => !removed.includes(name)), ...added]
      expect([...changed].sort()).toEqual([...after].sort())
      expect([...removed, ...added].filter((name) => before.includes(name) && after.includes(name))).toEqual(
        [],
      )
    }),
  )
})

test('permissions are grouped by area', () => {
  expect(groupPermissions(['itsm:read', 'apps:use', 'itsm:write'])).toEqual([
    ['itsm', ['itsm:read', 'itsm:write']],
    ['apps', ['apps:use']],
  ])
})

test.each([
  [[], { names: '', more: 0 }],
  [['Ada', 'Bob', 'Cy'], { names: 'Ada, Bob, Cy', more: 0 }],
  [['Ada', 'Bob', 'Cy', 'Dee', 'Eve'], { names: 'Ada, Bob, Cy', more: 2 }],
])('of the names %j at most three are listed, and the rest are counted', (all, expected) => {
  expect(formatSome(all)).toEqual(expected)
})
