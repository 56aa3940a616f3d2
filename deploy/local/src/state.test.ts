import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { LocalRunError } from './ports.js'
import { openState } from './state.js'

test('a path that can be no folder is refused in words that say what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-state-'))
  const file = join(folder, 'file')
  writeFileSync(file, '')
  for (const path of [file, join(file, 'below')]) {
    expect(() => openState(path)).toThrow(LocalRunError)
    expect(() => openState(path)).toThrow(
      /cannot be the folder of the state \(\w+\)\. Name another one with --home/,
    )
  }
  rmSync(folder, { recursive: true })
})
