import { accessSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedNats } from '@opsplane/nats/embedded'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { findProcess } from '@opsplane/runtime/server-process'

export interface TestServer {
  url: string
  stop(): Promise<void>
}

/**
 * Test databases may lose all data in a crash, which makes them several times faster, and a connection
 * need not hash a role's password 4,096 times.
 */
export const UNSAFE_BUT_FAST = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'scram_iterations=1',
]

const PREFIX = 'opsplane-test-'
/** Several times the amount a run has used concurrently. */
const LEAST_MEMORY_BYTES = 8 * 1024 ** 3

/** Creates a directory for this run below `parent`, and removes those of killed runs. */
export function createStateDirectory(parent = tmpdir()): string {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid && !findProcess(Number(pid))) removeFormer(join(parent, name))
  }
  return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
}

/**
 * Where the servers of a run store their data: in memory if there is plenty, because test files create hundreds of
 * databases with hundreds of files each, which take more CPU time on a disk file system.
 */
export function serverDataParent(memory = '/dev/shm', leastBytes = LEAST_MEMORY_BYTES): string {
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return Math.min(bavail * bsize, freemem()) < leastBytes ? tmpdir() : memory
  } catch {
    return tmpdir()
  }
}

/** Its servers may still be ending: in that case the next run removes it. */
function removeFormer(directory: string): void {
  try {
    removeDirectory(directory)
  } catch (error) {
    process.stderr.write(`${directory} of an earlier run stays (${String(error)})\n`)
  }
}

/** Retries while a process is still writing its last file there. */
export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}

/** Starts the Postgres of a test run from the embedded binaries. */
export function embeddedPostgres(stateDirectory: string): Promise<TestServer> {
  return startEmbeddedPostgres({ dataDir: join(stateDirectory, 'postgres'), flags: UNSAFE_BUT_FAST })
}

/** Starts the NATS of a test run from the installed program. */
export function embeddedNats(stateDirectory: string): Promise<TestServer> {
  return startEmbeddedNats({ storeDir: join(stateDirectory, 'nats'), synced: false })
}
