import { delay } from './clock.js'
import { ConfigError } from './config.js'
import { configureHeapGrowth } from './heap-growth.js'
import { describeErrorSafely } from './logged-error.js'
import { createLogger, type Logger } from './logger.js'

export interface Releasers {
  /** Registers how to close a resource that was just opened. */
  add(name: string, release: () => Promise<void> | void): void
  /** Closes everything, last opened first. Every release runs, and the first error is rethrown. Runs once. */
  release(): Promise<void>
}

/** Time after which a closing resource is logged, and after which the others are closed without waiting for it. */
const patience = { warnMs: 10_000, giveUpMs: 90_000 }

export function createReleasers(log: Logger, { warnMs, giveUpMs } = patience): Releasers {
  const resources: { name: string; release: () => Promise<void> | void }[] = []
  let released: Promise<void> | undefined

  const releaseAll = async () => {
    const errors: unknown[] = []
    for (const { name, release } of resources.reverse()) {
      const warning = setTimeout(() => log.warn({ resource: name }, 'still closing'), warnMs)
      const over = new AbortController()
      try {
        await Promise.race([release(), rejectAfter(name, giveUpMs, over.signal)])
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
    add: (name, release) => void resources.push({ name, release }),
    release: () => {
      released ??= releaseAll()
      return released
    },
  }
}

/** Rejects when the time is up. */
async function rejectAfter(name: string, ms: number, over: AbortSignal): Promise<void> {
  await delay(ms, over)
  if (!over.aborted) throw new Error(`${name} did not close within ${ms / 1_000} s`)
}

export interface RunningService {
  name: string
  port: number
  url: string
  /** URL of its metrics, if it has any. */
  metricsUrl?: string | undefined
  /** Stops intake, drains, closes. Safe to call twice. */
  stop(): Promise<void>
}

/** A service that can be started from its configuration; `Overrides` are replaced by tests and the one-process run. */
export interface RunnableService<Config = unknown, Overrides = { log?: Logger }> {
  name: string
  /** Throws ConfigError. */
  loadConfig(env: Record<string, string | undefined>): Config
  start(config: Config, overrides?: Overrides): Promise<RunningService>
}

/**
 * Runs a service as a process: starts it from the environment, and stops it once on SIGTERM or SIGINT.
 * Exit code 0 after a clean stop, 1 if it could not start or stop.
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
      // A resource that could not be closed must not keep the process alive.
      setTimeout(() => process.exit(1), 1_000).unref()
    }
  }
  process.once('SIGTERM', () => void stop('SIGTERM'))
  process.once('SIGINT', () => void stop('SIGINT'))
  running.catch((error: unknown) => {
    log.error({ err: error }, startProblem(error))
    // Resources opened by a setup that then failed cannot be closed: they must not keep an idle process alive.
    process.exit(1)
  })
}

/** A configuration error is reported in full, because it contains only the operator's own data. */
function startProblem(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  return error instanceof Error ? describeErrorSafely(error) : 'could not start'
}
