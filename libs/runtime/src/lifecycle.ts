import { delay } from './clock.js'
import { ConfigError } from './config.js'
import { configureHeapGrowth } from './heap-growth.js'
import { describeErrorSafely } from './logged-error.js'
import { createLogger, type Logger } from './logger.js'

export interface Releasers {
  /** Registers how to close something just opened. */
  add(name: string, release: () => Promise<void> | void): void
  /** Closes everything, last opened first; every one runs, the first error is rethrown. Runs once. */
  release(): Promise<void>
}

/** How long something may take to close before it is named, and before the rest is closed without it. */
const patience = { warnMs: 10_000, giveUpMs: 90_000 }

export function createReleasers(log: Logger, { warnMs, giveUpMs } = patience): Releasers {
  const opened: { name: string; release: () => Promise<void> | void }[] = []
  let released: Promise<void> | undefined

  const releaseAll = async () => {
    const errors: unknown[] = []
    for (const { name, release } of opened.reverse()) {
      const warning = setTimeout(() => log.warn({ resource: name }, 'still closing'), warnMs)
      const over = new AbortController()
      try {
        await Promise.race([release(), gaveUp(name, giveUpMs, over.signal)])
      } catch (error) {
        log.error({ err: error, resource: name }, 'could not close cleanly')
        errors.push(error)
      } finally {
        clearTimeout(warning)
        over.abort()
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  return {
    add: (name, release) => void opened.push({ name, release }),
    release: () => {
      released ??= releaseAll()
      return released
    },
  }
}

/** Rejects when the time is up. */
async function gaveUp(name: string, ms: number, over: AbortSignal): Promise<void> {
  await delay(ms, over)
  if (!over.aborted) throw new Error(`${name} did not close within ${ms / 1_000} s`)
}

/** What a started service gives back. */
export interface RunningService {
  name: string
  port: number
  url: string
  /** Where its metrics are, if anywhere. */
  metricsUrl?: string | undefined
  /** Stops intake, drains, closes. Safe to call twice. */
  stop(): Promise<void>
}

/** What can be started from its configuration; `Overrides` is what tests and the one-process run replace. */
export interface RunnableService<Config = unknown, Overrides = { log?: Logger }> {
  name: string
  /** Throws ConfigError. */
  loadConfig(env: Record<string, string | undefined>): Config
  start(config: Config, overrides?: Overrides): Promise<RunningService>
}

/**
 * Runs a service as a process: starts it from the environment, and on SIGTERM or SIGINT stops it once.
 * Exit code 0 after a clean stop, 1 when it could not start or stop.
 */
export function runService<Config>({ name, loadConfig, start }: RunnableService<Config>): void {
  configureHeapGrowth()
  const log = createLogger({ service: name, level: 'info' })
  let stopping = false
  const running = (async () => start(loadConfig(process.env)))()

  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    try {
      await (await running).stop()
      process.exitCode = 0
    } catch (error) {
      log.error({ err: error }, 'did not stop cleanly')
      process.exitCode = 1
      // What could not be closed must not keep the process.
      setTimeout(() => process.exit(1), 1_000).unref()
    }
  }
  process.once('SIGTERM', () => void stop('SIGTERM'))
  process.once('SIGINT', () => void stop('SIGINT'))
  running.catch((error: unknown) => {
    log.error({ err: error }, startProblem(error))
    // What a setup had opened before it threw cannot be closed: it must not keep an idle process alive.
    process.exit(1)
  })
}

/** A wrong configuration is reported in full: it is the operator's own. */
function startProblem(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  return error instanceof Error ? describeErrorSafely(error) : 'could not start'
}
