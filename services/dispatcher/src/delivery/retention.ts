import { type Database, lockTimedOut } from '@opsplane/postgres'
import { delay, type Logger, retryDelayMs } from '@opsplane/runtime'
import type { DeliveryDays } from './delivery-days.js'
import { dayMs, lastExpiredDay } from './retention-policy.js'
import {
  countDay,
  daysUntil,
  dropDeliveries,
  dropRest,
  isReferred,
  isUnfinished,
} from './retention-statements.js'

export interface RetentionOptions {
  database: Database
  days: DeliveryDays
  log: Logger
  nowMs(): number
  random(): number
  /** Days the deliveries of a day are kept once all of them are finished. */
  keptDays: number
  /** Days they are kept at most. */
  heldDays: number
}

export interface Retention {
  close(): Promise<void>
}

const everyMs = 3_600_000
const jitter = 0.1
/** After a pass that Postgres, or a lock, got in the way of. */
const againMs = 60_000
/** The clock is looked at so often: it can be set. */
const lookMs = 1_000
const daysAhead = 2

/**
 * Makes the partitions of the days to come and drops those the policy lets go of, now and every hour. Any number
 * of replicas may do so at once.
 */
export function startRetention(options: RetentionOptions): Retention {
  const { log, nowMs, random } = options
  const closing = new AbortController()

  async function pass(): Promise<number> {
    try {
      await makeDays(options)
      const complete = await dropDays(options, closing.signal)
      const spread = retryDelayMs({
        attempt: 1,
        strategy: 'fixed',
        baseMs: everyMs,
        maxMs: everyMs,
        jitter,
        random: random(),
      })
      return complete ? spread : againMs
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ err: error }, 'the days of deliveries are not seen to')
      return againMs
    }
  }

  async function loop() {
    while (!closing.signal.aborted) {
      const next = nowMs() + (await pass())
      while (nowMs() < next && !closing.signal.aborted) await delay(lookMs, closing.signal)
    }
  }

  const running = loop()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}

async function makeDays({ days, nowMs }: RetentionOptions) {
  const now = nowMs()
  // What a look at the catalogue costs an hour is nothing, and another replica may have dropped days.
  days.forget()
  await days.ensure(Array.from({ length: daysAhead + 2 }, (_, ahead) => now + (ahead - 1) * dayMs))
}

/** Oldest first. False when a lock was not to be had and something is left for later. */
async function dropDays(options: RetentionOptions, signal: AbortSignal): Promise<boolean> {
  const now = options.nowMs()
  const heldUntil = lastExpiredDay(now, options.heldDays)
  let complete = true
  for (const day of await daysUntil(options.database.sql, lastExpiredDay(now, options.keptDays))) {
    if (signal.aborted) return true
    try {
      await dropDay(options, day, day <= heldUntil)
    } catch (error) {
      if (!lockTimedOut(error)) throw error
      complete = false
    }
  }
  return complete
}

async function dropDay({ database: { sql }, log }: RetentionOptions, number: number, forced: boolean) {
  const day = new Date(number * dayMs).toISOString().slice(0, 10)
  // Looks first, since a drop has everybody wait for a moment.
  if (!forced && (await isUnfinished(sql, number))) return
  const deliveries = await countDay(sql, 'deliveries', number)
  const lost = await dropDeliveries(sql, number, forced)
  if (lost === 0) log.info({ day, deliveries }, 'deliveries of a day dropped')
  if (lost !== null && lost > 0)
    log.warn({ day, deliveries, lost }, 'deliveries of a day dropped, some of them unfinished')
  for (const table of ['delivery_attempts', 'delivery_events'] as const) {
    if (table === 'delivery_events' && (await isReferred(sql, number))) continue
    const rows = await countDay(sql, table, number)
    if (await dropRest(sql, table, number)) log.info({ day, rows, table }, 'rows of a day dropped')
  }
}
