import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { findProcess, signalProcess, waitForExit } from '@opsplane/runtime/server-process'
import type { SystemUser } from './embedded-user.js'
import { unicodeCtypes } from './locale.js'

const PASSWORD_FILE = 'opsplane-password'
const ORPHAN_GRACE_MS = 1_000
// Its first line is the postmaster's pid, its eighth line the postmaster's state.
const LOCK_FILE = 'postmaster.pid'
const STATE_LINE = 7

interface ClusterOptions {
  initdb: string
  dataDir: string
  user: string
  password: string | undefined
  owner: SystemUser | undefined
  /** See EmbeddedPostgresOptions. */
  ctypes?: readonly string[] | undefined
  onLog?: ((line: string) => void) | undefined
}

/** Creates the data directory unless it exists, and returns the superuser's password. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { dataDir, owner } = options
  if (existsSync(join(dataDir, 'PG_VERSION'))) {
    if (owner && statSync(dataDir).uid !== owner.uid) changeOwner(dataDir, owner)
    return options.password ?? readFileSync(join(dataDir, PASSWORD_FILE), 'utf8')
  }
  return createCluster(options)
}

// Created under another name and renamed, so that a killed run leaves nothing that looks complete.
async function createCluster(options: ClusterOptions): Promise<string> {
  const { dataDir, password, owner, onLog } = options
  const draft = `${dataDir}.new`
  const passwordFile = `${draft}.password`
  const secret = password ?? randomBytes(18).toString('base64url')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  writeFileSync(passwordFile, secret, { mode: 0o600 })
  if (owner) {
    chownSync(draft, owner.uid, owner.gid)
    chownSync(passwordFile, owner.uid, owner.gid)
  }
  const unknown: string[] = []
  for (const ctype of options.ctypes ?? [...unicodeCtypes, 'C']) {
    const failure = await runInitdb(options, draft, passwordFile, ctype)
    if (failure === undefined) {
      if (unknown.length > 0)
        onLog?.(`made with LC_CTYPE ${ctype}, as this machine has no ${unknown.join(', ')}`)
      renameSync(passwordFile, join(draft, PASSWORD_FILE))
      renameSync(draft, dataDir)
      return secret
    }
    if (!/invalid locale (name|settings)|encoding mismatch/.test(failure))
      throw new Error(`initdb could not create ${dataDir}:\n${failure}`)
    unknown.push(ctype)
  }
  throw new Error(`initdb could not create ${dataDir}: this machine has no locale ${unknown.join(', ')}`)
}

/**
 * The collation is always C: bytes sort the same on every machine and in every version, and its indexes serve
 * prefix searches. Returns the error output of initdb if it failed.
 */
async function runInitdb(
  { initdb, user, owner }: ClusterOptions,
  draft: string,
  passwordFile: string,
  ctype: string,
): Promise<string | undefined> {
  const args = ['-D', draft, '-U', user, '--pwfile', passwordFile, '--auth=scram-sha-256']
  try {
    await promisify(execFile)(initdb, [...args, '--encoding=UTF8', '--locale=C', `--lc-ctype=${ctype}`], {
      ...owner,
      cwd: draft,
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    })
    return undefined
  } catch (error) {
    return (error as { stderr?: string }).stderr?.trim() || String(error)
  }
}

function changeOwner(directory: string, owner: SystemUser): void {
  chownSync(directory, owner.uid, owner.gid)
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    chownSync(join(directory, entry), owner.uid, owner.gid)
  }
}

/**
 * Cleans up after a killed postmaster: backends that still use its shared memory, and a postmaster.pid whose
 * number may now belong to another process (or a zombie), which Postgres would take for a running server.
 */
export async function clearCrashedServer(dataDir: string): Promise<void> {
  for (const pid of processesIn(dataDir)) {
    // Backends notice the loss of their postmaster themselves, unless they are busy.
    if (await waitForExit(pid, ORPHAN_GRACE_MS)) continue
    signalProcess(pid, 'SIGKILL')
    await waitForExit(pid, ORPHAN_GRACE_MS)
  }
  const [line] = lockFileLines(dataDir)
  if (line === undefined) return
  const pid = Number(line)
  const holder = findProcess(pid)
  if (!holder || !basename(holder.commandLine.split(' ')[0] ?? '').startsWith('postgres')) {
    rmSync(join(dataDir, LOCK_FILE), { force: true })
  }
}

/**
 * Whether the postmaster has finished its recovery, according to the state in its lock file, which pg_ctl reads
 * too. The log is not reliable: clients waiting for the server may immediately push the corresponding line out of
 * its tail.
 */
export function acceptsConnections(dataDir: string, postmaster: number): boolean {
  const lines = lockFileLines(dataDir)
  return Number(lines[0]) === postmaster && lines[STATE_LINE]?.trim() === 'ready'
}

function lockFileLines(dataDir: string): string[] {
  try {
    return readFileSync(join(dataDir, LOCK_FILE), 'utf8').split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

// Every Postgres process has its data directory as working directory. On systems other than Linux, Postgres's own
// check of the shared memory decides, and the start is retried.
function processesIn(dataDir: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isPostgresIn(pid, dataDir))
}

function isPostgresIn(pid: number, dataDir: string): boolean {
  try {
    const program = basename(readlinkSync(`/proc/${pid}/exe`)).replace(' (deleted)', '')
    return program === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === dataDir
  } catch {
    return false
  }
}
