import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { removeDirectory, serverDataParent } from './test-servers.js'

test('data of servers is stored in memory if there is enough space, and otherwise in the temporary folder', () => {
  const memory = mkdtempSync(join(tmpdir(), 'memory-'))
  try {
    expect(serverDataParent(memory, 1)).toBe(memory)
    expect(serverDataParent(memory, Number.MAX_SAFE_INTEGER)).toBe(tmpdir())
  } finally {
    removeDirectory(memory)
  }
  expect(serverDataParent(memory, 1)).toBe(tmpdir())
})
