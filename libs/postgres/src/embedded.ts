import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  claimDirectory,
  freePort,
  releaseDirectory,
  type ServerProcess,
  startServerProcess,
} from '@opsplane/runtime/server-process'
import postgres from 'postgres'
import { postgresBinaries } from './embedded-binaries.js'
import { acceptsConnections, clearCrashedServer, ensureCluster } from './embedded-cluster.js'
import { openPathTo, type SystemUser, serverUser } from './embedded-user.js'

interface EmbeddedPostgresOptions {
  dataDir: string
  /** Any free port if absent. */
  port?: number | undefined
  user?: string | undefined
  /** Generated and stored in the data directory if absent. Only applies when the directory is created. */
  password?: string | undefined
  /** Server settings, as `name=value`. */
  flags?: string[] | undefined
  /**
   * Candidates for the LC_CTYPE of a new data directory; the first one the machine has is used. By default locales
   * that know the letters of all scripts come first.
   */
  ctypes?: readonly string[] | undefined
  onLog?: ((line: string) => void) | undefined
}

export interface EmbeddedPostgres {
  /** The superuser's URL of the database `postgres`. */
  readonly url: string
  readonly port: number
  /** Process id of the postmaster. */
  readonly pid: number
  /** Resolves, never rejects, with a description of how the server ended, whether requested or not. */
  readonly exited: Promise<string>
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 120_000
const RETRY_UNTIL_MS = 15_000
// Fast shutdown: orderly, but without waiting for clients to disconnect.
const STOP_SIGNAL = 'SIGINT'

/**
 * Starts a dedicated Postgres on 127.0.0.1, creating its data directory the first time. Remains of an earlier run,
 * even a killed one, are cleaned up first.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = postgresBinaries()
  const dataDir = placeFor(options.dataDir)
  const user = options.user ?? 'postgres'
  const owner = serverUser()
  if (owner) for (const path of [dataDir, binaries.postgres]) openPathTo(path, options.onLog)

  const claimFile = `${dataDir}.claim`
  const claim = await claimDirectory(claimFile, dataDir, STOP_SIGNAL)
  await clearCrashedServer(dataDir)
  const password = await ensureCluster({
    initdb: binaries.initdb,
    dataDir,
    user,
    password: options.password,
    owner,
    ctypes: options.ctypes,
    onLog: options.onLog,
  })
  const { server, port } = await startServer({ ...options, dataDir }, binaries.postgres, owner)
  const url = `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`
  try {
    claim(server.pid)
    await answersQuery(url, server)
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    url,
    port,
    pid: server.pid,
    exited: server.exited,
    async stop() {
      await server.stop()
      releaseDirectory(claimFile)
    },
  }
}

// The real path, because the system reports it as the server's working directory.
function placeFor(dataDir: string): string {
  const path = resolve(dataDir)
  mkdirSync(dirname(path), { recursive: true })
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
}

async function startServer(
  options: EmbeddedPostgresOptions,
  command: string,
  owner: SystemUser | undefined,
): Promise<{ server: ServerProcess; port: number }> {
  const deadline = Date.now() + RETRY_UNTIL_MS
  for (;;) {
    const port = await freePort(options.port)
    const server = await startServerProcess({
      command,
      args: serverArguments(options, port),
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      ...owner,
      stopSignal: STOP_SIGNAL,
      onLog: options.onLog,
    })
    const outcome = await readyOrExited(server, options.dataDir)
    if (outcome === 'ready') return { server, port }
    await server.stop()
    const log = server.logTail()
    const passing = /shared memory block .* still in use|could not bind|Address already in use/.test(log)
    if (!passing || Date.now() > deadline) {
      throw new Error(`Postgres did not start on port ${port} in ${options.dataDir} (${outcome}):\n${log}`)
    }
    await delay(250)
  }
}

function serverArguments({ dataDir, flags = [] }: EmbeddedPostgresOptions, port: number): string[] {
  const settings = [
    'listen_addresses=127.0.0.1',
    // Socket paths are limited to about 100 characters, and nothing here uses one.
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    'log_timezone=UTC',
    ...flags,
  ]
  return ['-D', dataDir, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
}

async function readyOrExited(server: ServerProcess, dataDir: string): Promise<string> {
  const deadline = Date.now() + READY_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (acceptsConnections(dataDir, server.pid)) return 'ready'
    if (!server.running) return server.exited
    await delay(20)
  }
  return `not ready after ${READY_TIMEOUT_MS / 1000} s`
}

async function answersQuery(url: string, server: ServerProcess): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 60 })
  try {
    await sql`select 1`
  } catch (cause) {
    throw new Error(`Postgres started but refuses a query (${String(cause)}):\n${server.logTail()}`, {
      cause,
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}
