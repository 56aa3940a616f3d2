import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { openLogFile } from './log-file.js'

test('appends lines in order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-log-'))
  const path = join(folder, 'opsplane.log')
  for (const run of ['first', 'second']) {
    const file = openLogFile(path, () => {})
    for (let n = 0; n < 1_000; n++) file.write(`${run} ${n}\n`)
    await file.flushed()
  }
  const lines = ['first', 'second'].flatMap((run) => Array.from({ length: 1_000 }, (_, n) => `${run} ${n}`))
  expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toEqual(lines)
  rmSync(folder, { recursive: true })
})

// A device that never has free space.
test('a full disk loses lines and is reported once, without ending the process', async () => {
  const reported: string[] = []
  const destination = openLogFile('/dev/full', (text) => reported.push(text))
  const log = createLogger({ service: 'test', level: 'info', destination })
  for (let n = 0; n < 10; n++) {
    log.info({ n }, 'a line')
    await destination.flushed()
  }
  expect(reported).toEqual([
    expect.stringMatching(/^\/dev\/full cannot be written \(ENOSPC\): lines of the log are lost/),
  ])
})
