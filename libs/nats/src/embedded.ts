import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { accessSync, constants, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  claimDirectory,
  freePort,
  releaseDirectory,
  type ServerProcess,
  startServerProcess,
} from '@opsplane/runtime/server-process'
import { isSupportedServer, minServerVersion } from './server-version.js'

interface EmbeddedNatsOptions {
  storeDir: string
  /** Any free port if absent. */
  port?: number | undefined
  /**
   * Whether acknowledged messages must survive a power failure, which makes the server several times slower. Default
   * `true`.
   */
  synced?: boolean
  /** The authorization part of the configuration; without it every client may do everything. */
  authorization?: (() => string) | undefined
  /** A generated name if absent. */
  name?: string
  /** Additional configuration lines. */
  settings?: readonly string[]
  onLog?: ((line: string) => void) | undefined
}

export interface EmbeddedNats {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Resolves, never rejects, with a description of how the server ended, whether requested or not. */
  readonly exited: Promise<string>
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 120_000
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024
const START_ATTEMPTS = 5
const STOP_SIGNAL = 'SIGTERM'
const usersFile = 'users.conf'
const claimName = 'claim.json'

/**
 * Path of the first nats-server program that is new enough: from the PATH, then from this project's and Go's
 * directories.
 */
export function findNatsServer(): string | undefined {
  found ??= natsServers().find((path) => isSupportedServer(readServerVersion(path)))
  return found
}

let found: string | undefined

/** Paths of all nats-server programs on this machine, the preferred one first. */
export function natsServers(): string[] {
  const goPath = process.env.GOPATH ?? join(homedir(), 'go')
  const directories = [
    ...(process.env.PATH ?? '').split(delimiter),
    resolve('.opsplane/bin'),
    ...goPath.split(delimiter).map((path) => join(path, 'bin')),
  ]
  return directories
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, 'nats-server'))
    .filter(isExecutable)
}

/** The version the program reports: `nats-server: v2.15.1`. */
export const readServerVersion = (path: string): string =>
  spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''

/**
 * Starts a dedicated nats-server on 127.0.0.1 with JetStream in `storeDir`. A server that an earlier run left
 * running, even if that run was killed, is stopped first.
 */
export async function startEmbeddedNats(options: EmbeddedNatsOptions): Promise<EmbeddedNats> {
  const command = findNatsServer()
  if (command === undefined) {
    throw new Error(
      `There is no nats-server ${minServerVersion} or newer. Install it, or set NATS_URL to a running one.`,
    )
  }
  mkdirSync(options.storeDir, { recursive: true })
  const storeDir = realpathSync(options.storeDir)
  const configFile = join(storeDir, 'nats-server.conf')
  const claimFile = join(storeDir, claimName)
  const claim = await claimDirectory(claimFile, configFile, STOP_SIGNAL)
  const { server, port } = await startServer({ ...options, storeDir }, command, configFile, claim)
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: server.pid,
    exited: server.exited,
    async stop() {
      await server.stop()
      releaseDirectory(claimFile)
    },
  }
}

async function startServer(
  options: EmbeddedNatsOptions,
  command: string,
  configFile: string,
  claim: (serverPid: number) => void,
): Promise<{ server: ServerProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(options.port)
    const {
      storeDir,
      authorization,
      name = `opsplane-${randomUUID()}`,
      synced = true,
      settings = [],
    } = options
    writeFileSync(join(storeDir, usersFile), authorization?.() ?? '', { mode: 0o600 })
    writeFileSync(configFile, configuration({ storeDir, port, name, synced, settings }))
    const server = await startServerProcess({
      command,
      args: ['--config', configFile],
      stopSignal: STOP_SIGNAL,
      onLog: options.onLog,
    })
    try {
      claim(server.pid)
      await sendsInfo(server, port, name)
      return { server, port }
    } catch (error) {
      await server.stop()
      // Another process may have bound the port since it was found free.
      if (!/address already in use/i.test(server.logTail()) || attempt === START_ATTEMPTS) throw error
    }
  }
}

/**
 * Replaces the users of the server running on `storeDir`; users whose permissions are unchanged stay connected.
 * Throws if no server is running.
 */
export function reloadUsers(storeDir: string, authorization: string): void {
  const claim = JSON.parse(readFileSync(join(storeDir, claimName), 'utf8')) as { serverPid: number }
  writeFileSync(join(storeDir, usersFile), authorization, { mode: 0o600 })
  process.kill(claim.serverPid, 'SIGHUP')
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

interface Configuration {
  storeDir: string
  port: number
  name: string
  synced: boolean
  settings: readonly string[]
}

function configuration({ storeDir, port, name, synced, settings }: Configuration): string {
  return [
    `server_name: ${JSON.stringify(name)}`,
    `listen: "127.0.0.1:${port}"`,
    `max_payload: ${MAX_PAYLOAD_BYTES}`,
    'jetstream {',
    `  store_dir: ${JSON.stringify(storeDir)}`,
    ...(synced ? ['  sync_interval: always'] : []),
    '}',
    ...settings,
    `include ${usersFile}`,
    '',
  ].join('\n')
}

async function sendsInfo(server: ServerProcess, port: number, name: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS
  while (server.running && Date.now() < deadline) {
    if (await greets(port, name)) return
    await delay(20)
  }
  const outcome = server.running ? `not ready after ${READY_TIMEOUT_MS / 1000} s` : await server.exited
  throw new Error(`nats-server did not start on port ${port} (${outcome}):\n${server.logTail()}`)
}

/** Whether the server on the port sends the first line of the NATS protocol and has this name. */
function greets(port: number, name: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 })
    const finish = (result: boolean) => {
      socket.destroy()
      done(result)
    }
    let line = ''
    socket.on('data', (chunk) => {
      line += chunk
      if (line.includes('\r\n')) finish(line.startsWith('INFO ') && line.includes(name))
    })
    socket.once('error', () => finish(false))
    socket.once('timeout', () => finish(false))
    socket.once('close', () => finish(false))
  })
}
