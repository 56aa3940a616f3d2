import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

const program = fileURLToPath(new URL('./fixture/hostile-server.js', import.meta.url))

test('arbitrary answers of a server neither end a process, nor keep it busy, nor fill its log', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, '7', '500'], {
    timeout: 290_000,
  })
  expect(stderr).toBe('')
  const { rounds, understood } = JSON.parse(stdout) as { rounds: number; understood: number }
  expect(rounds).toBe(500)
  // It reaches the rows of a result often enough.
  expect(understood).toBeGreaterThan(100)
})
