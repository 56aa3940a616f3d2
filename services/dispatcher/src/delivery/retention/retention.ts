import { type Database, isLockTimeout } from '@opsplane/postgres'
import { delay, type Logger, msToIdleTick, retryDelayMs } from '@opsplane/runtime'
import type { DeliveryDays } from './delivery-days.js'
import { dayMs, lastExpiredDay } from './retention-policy.js'
import {
  countDay,
  dropDeliveries,
  dropRelated,
  hasReferences,
  hasUnfinished,
  listDaysUntil,
  type RelatedTable,
} from './retention-statements.js'

export interface RetentionOptions {
  database: Database
  days: DeliveryDays
  log: Logger
  nowMs(): number
  random(): number
  /** Days for which the deliveries of a day are kept once all are finished. */
  keptDays: number
  /** Maximum days for which they are kept. */
  heldDays: number
}

const everyMs = 3_600_000
const jitter = 0.1
/** Milliseconds until the next pass, after one failed because of Postgres or a lock. */
const againMs = 3_000
/** Milliseconds between checks of the clock, which can be set. */
const clockCheckIntervalMs = 5_000
const daysAhead = 2

/**
 * Creates the partitions of the coming days and drops expired ones, now and every hour. Any number of replicas may run
 * this concurrently.
 */
export function startRetention(options: RetentionOptions) {
  const { log, nowMs, random } = options
  const closing = new AbortController()
  let failed = false

  async function pass(): Promise<number> {
    try {
      await makeDays(options)
      const complete = await dropDays(options, closing.signal)
      failed = false
      const spread = { attempt: 1, strategy: 'fixed' as const, baseMs: everyMs, maxMs: everyMs }
      return complete ? retryDelayMs({ ...spread, jitter, random: random() }) : againMs
    } catch (error) {
      if (!failed)
        log.warn({ err: error }, 'partitions of deliveries could not be created or dropped; trying again')
      failed = true
      return againMs
    }
  }

  async function loop() {
    while (!closing.signal.aborted) {
      const began = nowMs()
      const next = began + (await pass())
      while (nowMs() >= began && nowMs() < next && !closing.signal.aborted)
        await delay(Math.min(msToIdleTick(clockCheckIntervalMs), next - nowMs()), closing.signal)
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
  // Reading the catalogue once an hour is cheap, and another replica may have dropped days.
  days.forget()
  await days.ensure(Array.from({ length: daysAhead + 2 }, (_, ahead) => now + (ahead - 1) * dayMs))
}

/** Oldest first. Returns false if a lock was not available and days remain to be dropped. */
async function dropDays(options: RetentionOptions, signal: AbortSignal): Promise<boolean> {
  const { sql } = options.database
  const now = options.nowMs()
  const lastForcedDay = lastExpiredDay(now, options.heldDays)
  const days = await listDaysUntil(sql, lastExpiredDay(now, options.keptDays))
  let complete = true
  // Events last: a dropped replay may be the last delivery that refers to an event of an earlier day.
  for (const step of [
    (day: number) => dropDeliveryDay(options, day, day <= lastForcedDay),
    (day: number) => dropRestOfDay(options, 'delivery_attempts', day),
    (day: number) => dropRestOfDay(options, 'delivery_events', day),
  ])
    for (const day of days) {
      if (signal.aborted) return true
      try {
        await step(day)
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        options.log.info(
          { day: dateOf(day) },
          'a day of old rows is locked; dropping it is tried again later',
        )
        complete = false
      }
    }
  return complete
}

async function dropDeliveryDay({ database, log }: RetentionOptions, day: number, forced: boolean) {
  const { sql } = database
  // Checked first, because a drop blocks all other statements for a moment.
  if (!forced && (await hasUnfinished(sql, day))) return
  const deliveries = await countDay(sql, 'deliveries', day)
  const lost = await dropDeliveries(sql, day, forced)
  const counts = { day: dateOf(day), deliveries }
  if (lost === 0) log.info(counts, 'deliveries of a day dropped')
  if (lost !== null && lost > 0)
    log.warn({ ...counts, lost }, 'dropped a day of deliveries past their retention, some of them unfinished')
}

async function dropRestOfDay({ database, log }: RetentionOptions, table: RelatedTable, day: number) {
  if (await hasReferences(database.sql, table, day)) return
  const rows = await countDay(database.sql, table, day)
  if (await dropRelated(database.sql, table, day))
    log.info({ table, day: dateOf(day), rows }, 'dropped a day of rows that are past their retention')
}

const dateOf = (day: number) => new Date(day * dayMs).toISOString().slice(0, 10)
