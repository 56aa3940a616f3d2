import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openState, prepareState } from '@opsplane/local'
import { waitFor } from '@opsplane/testing'

const folder = join(tmpdir(), 'opsplane-e2e-prepared')
const ready = join(folder, 'ready')

/**
 * Fills the folder of a state with databases that are already created and migrated, so that this is done once for
 * all platforms. The first test file of a run prepares them; others wait for it, which costs less than preparing
 * their own. Returns whether the folder was filled.
 */
export async function fillState(to: string): Promise<boolean> {
  // Outside a test run the folder would never be removed.
  if (process.env.TEST_RUN_ID === undefined) return false
  if (!existsSync(ready) && !(await prepare())) return false
  // Postgres requires its folder to have its owner and permissions, so the copy must preserve them.
  execFileSync('cp', ['-a', ready, to])
  return true
}

async function prepare(): Promise<boolean> {
  try {
    mkdirSync(folder)
  } catch {
    return waitFor(() => existsSync(ready)).catch(() => false)
  }
  const state = openState(join(folder, 'making'))
  await prepareState(state)
  renameSync(state.root, ready)
  return true
}
