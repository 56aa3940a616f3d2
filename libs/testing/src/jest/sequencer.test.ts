import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { removeDirectory } from '../test-servers.js'
import { expectedLength } from './sequencer.js'

test('test files that start servers, or run longer than their size suggests, start earlier', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sequence-'))
  const named = (name: string, bytes: number) => {
    writeFileSync(join(folder, name), 'x'.repeat(bytes))
    return { name, expected: expectedLength(join(folder, name)) }
  }
  try {
    const files = [
      named('short.test.js', 1_000),
      named('long.test.js', 9_000),
      named('short.int.test.js', 1_000),
      named('dispatcher-simulation.test.js', 1_000),
      named('long.e2e.test.js', 9_000),
    ]
    expect(files.toSorted((a, b) => b.expected - a.expected).map(({ name }) => name)).toEqual([
      'long.e2e.test.js',
      'dispatcher-simulation.test.js',
      'long.test.js',
      'short.int.test.js',
      'short.test.js',
    ])
  } finally {
    removeDirectory(folder)
  }
})
