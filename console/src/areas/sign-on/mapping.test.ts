import { expect, test } from '@jest/globals'
import { mappingText, parseMapping } from './mapping.js'

const roles = [
  { value: 'ops-admins', role: 'admin' },
  { value: 'cn=ops,ou=groups', role: 'release-manager' },
]

test('a role mapping that is formatted and parsed again is unchanged', () => {
  expect(mappingText(roles)).toBe('ops-admins = admin\ncn=ops,ou=groups = release-manager')
  expect(parseMapping(mappingText(roles).split('\n'))).toEqual(roles)
})

test.each([['ops-admins'], ['= admin'], ['ops ='], ['ops = two words']])(
  'the line %j is rejected as a role mapping',
  (line) => {
    expect(parseMapping(['a = b', line])).toBeUndefined()
  },
)
