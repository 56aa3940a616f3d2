import { expect, test } from '@jest/globals'
import { lastBackupSeconds, lastBackupText } from './last-backup.js'

test('a recorded backup time is read back as the same instant', () => {
  const at = new Date('2026-11-28T04:30:00.500Z')
  expect(lastBackupSeconds(lastBackupText(at))).toBe(at.getTime() / 1_000)
})

test.each([[null], [undefined], [''], ['a schema of settings'], ['last backup soon']])(
  'the comment %j contains no backup time',
  (comment) => {
    expect(lastBackupSeconds(comment)).toBe(0)
  },
)
