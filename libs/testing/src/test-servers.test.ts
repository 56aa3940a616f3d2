import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { removeDirectory, serverDataParent } from './test-servers.js'

test('data of servers are kept in memory where there is plenty of it, else where temporary files are', () => {
  const memory = mkdtempSync(join(tmpdir(), 'memory-'))
  try {
    expect(serverDataParent(memory, 1)).toBe(memory)
    expect(serverDataParent(memory, Number.MAX_SAFE_INTEGER)).toBe(tmpdir())
  } finally {
    removeDirectory(memory)
  }
  expect(serverDataParent(memory, 1)).toBe(tmpdir())
})
