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
 * Test databases may lose everything at a crash, which makes them several times faster, and a connection to them need not
 * hash a role's password 4,096 times.
 */
export const UNSAFE_BUT_FAST = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'scram_iterations=1',
]

const PREFIX = 'opsplane-test-'
/** Several times what a run has had at once. */
const LEAST_MEMORY_BYTES = 8 * 1024 ** 3

/** A directory of this run below `parent`. Those of runs that were killed are removed. */
export function createStateDirectory(parent = tmpdir()): string {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid && !findProcess(Number(pid))) removeFormer(join(parent, name))
  }
  return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
}

/**
 * Where the servers of a run keep their data: in memory where there is plenty, as test files make hundreds of databases of
 * hundreds of files each, and a file system on a disk computes longer for each of them.
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

/** Its servers may still be ending: then the next run removes it. */
function removeFormer(directory: string): void {
  try {
    removeDirectory(directory)
  } catch (error) {
    process.stderr.write(`${directory} of an earlier run stays (${String(error)})\n`)
  }
}

/** Waits for a process that is about to write its last file there. */
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
