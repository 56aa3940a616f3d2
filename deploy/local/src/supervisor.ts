import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { serviceBundle } from '@opsplane/bundler'
import type { ServiceName } from '@opsplane/contracts'
import { clientTls, type InternalTls } from '@opsplane/http'
import { Agent, type Dispatcher, request } from 'undici'
import type { Environment } from './service-plan.js'

const HEALTHY_TIMEOUT_MS = 120_000
/** On an idle machine a service is up in a second; if many start concurrently, frequent polling slows them all. */
const [askMs, askPartOfWait] = [50, 0.1]
/** As in the image: memory that a service frees is reused by all of its threads, or returned to the system (ADR 105). */
const allocator = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '262144' }

/** As in the image: garbage collection uses one core in addition to that of the service (ADR 118). */
const nodeOptions = ['--v8-pool-size=1']

/** A service running as a separate process, as in production; it can be killed and restarted. */
export interface ServiceProcess {
  name: ServiceName
  url: string
  pid(): number | undefined
  /** How the process ended although it should be running; `undefined` while it runs. */
  ended(): string | undefined
  logTail(lines: number): string
  /** Starts the process and resolves once it answers /healthz. */
  start(): Promise<void>
  /** Sends SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

export function serviceProcess(options: {
  name: ServiceName
  env: Environment
  logFile: string
  /** Set if other services call it with https. */
  tls?: InternalTls | undefined
  /** Path of the bundle to run; defaults to that of this version. */
  bundle?: (() => string) | undefined
}): ServiceProcess {
  const { name, env, logFile, tls, bundle = () => serviceBundle(name) } = options
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${env.PORT}`
  const agent = new Agent({ connect: clientTls(tls) })
  let child: ChildProcess | undefined

  const exited = (process: ChildProcess) =>
    new Promise<number | null>((resolve) => {
      if (process.exitCode !== null || process.signalCode !== null) return resolve(process.exitCode)
      process.once('exit', (code) => resolve(code))
    })
  const end = async (signal: NodeJS.Signals) => {
    if (!child) return null
    const endingChild = child
    child = undefined
    const code = exited(endingChild)
    endingChild.kill(signal)
    return code
  }

  return {
    name,
    url,
    pid: () => child?.pid,
    ended: () => {
      if (!child) return 'not started'
      if (child.signalCode !== null) return `by ${child.signalCode}`
      return child.exitCode === null ? undefined : `with exit code ${child.exitCode}`
    },
    logTail: (lines) => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n'),
    start: async () => {
      const log = openSync(logFile, 'a')
      child = spawn(process.execPath, [...nodeOptions, bundle()], {
        env: { PATH: process.env.PATH, ...allocator, ...env },
        stdio: ['ignore', log, log],
      })
      closeSync(log)
      await healthy(url, agent, child, logFile)
    },
    kill: async () => {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
  }
}

async function healthy(
  url: string,
  dispatcher: Dispatcher,
  child: ChildProcess,
  logFile: string,
): Promise<void> {
  const startedAt = performance.now()
  for (let waitedMs = 0; waitedMs < HEALTHY_TIMEOUT_MS; waitedMs = performance.now() - startedAt) {
    if (child.exitCode !== null) throw new Error(`the service at ${url} ended at once; its log is ${logFile}`)
    const answers = await request(`${url}/healthz`, { dispatcher }).then(
      async (response) => {
        await response.body.dump()
        return response.statusCode === 200
      },
      () => false,
    )
    if (answers) return
    await delay(Math.max(askMs, waitedMs * askPartOfWait))
  }
  throw new Error(
    `the service at ${url} did not become healthy in ${HEALTHY_TIMEOUT_MS / 1000} s; its log is ${logFile}`,
  )
}
