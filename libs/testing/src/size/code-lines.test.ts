import { expect, test } from '@jest/globals'
import { codeLines, isCounted, packageName } from './code-lines.js'

test('blank lines and comments are not counted', () => {
  const source = `/** A docstring
 * of two lines. */
import { a } from './a.js' // behind code

// alone
/* one */ const b = a /* two */
/*
 const c = b
*/ const d = b
const e = '/* no comment'
`
  expect(codeLines(source)).toBe(4)
})

test('tests, fixtures, generated sources and the console are not counted', () => {
  expect(
    [
      'libs/http/src/index.ts',
      'services/itsm/src/change/change.test.ts',
      'services/itsm/src/served.fixture.ts',
      'libs/nats/src/fixture/server.ts',
      'libs/testing/src/index.ts',
      'client/src/generated/types.ts',
      'console/src/main.tsx',
      'test-e2e/src/people.ts',
    ].filter(isCounted),
  ).toEqual(['libs/http/src/index.ts'])
  expect(['libs/http/src/a/b.ts', 'deploy/local/src/a.ts', 'cli/src/main.ts'].map(packageName)).toEqual([
    'libs/http',
    'deploy/local',
    'cli',
  ])
})
