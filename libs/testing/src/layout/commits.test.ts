import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { subjectFault } from './commits.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
/** Subjects before this commit follow other rules. */
const base = '5ec76256ecc4868343ab36df17475b8a3145f7d4'

test.each([
  'fix(relay): retry a refused publish',
  'docs: define the terms that names and messages use',
  'refactor(itsm, analytics): name values by nouns',
  'feat(console)!: open the failed deliveries first',
  "Merge branch 'docs'",
  'Revert "fix(relay): retry a refused publish"',
])('accepts the subject: %s', (subject) => {
  expect(subjectFault(subject)).toBeUndefined()
})

test.each([
  ['Retry a refused publish', 'is not "type(scope): what it does"'],
  ['fixes: retry', 'is not "type(scope): what it does"'],
  ['fix(relay) retry', 'is not "type(scope): what it does"'],
  ['fix(relay): retry a refused publish.', 'is not "type(scope): what it does"'],
  [`fix(relay): ${'x'.repeat(61)}`, 'has 73 characters'],
])('rejects the subject: %s', (subject, fault) => {
  expect(subjectFault(subject)).toContain(fault)
})

/** `undefined` if git, the repository or the history is missing: in an archive, an image, or a shallow clone. */
function subjectsSince(commit: string): string[] | undefined {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (git('merge-base', '--is-ancestor', commit, 'HEAD').status !== 0) return undefined
  const { status, stdout } = git('log', '--format=%s', `${commit}..HEAD`)
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : undefined
}

test('every commit since the base commit has a valid subject', () => {
  expect((subjectsSince(base) ?? []).flatMap((subject) => subjectFault(subject) ?? [])).toEqual([])
})

test('an unknown base commit has no subjects to check', () => {
  expect(subjectsSince('0'.repeat(40))).toBeUndefined()
})
