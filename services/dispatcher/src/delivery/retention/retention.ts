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
  /** Days the deliveries of a day are kept once all of them are finished. */
  keptDays: number
  /** Days they are kept at most. */
  heldDays: number
}

const everyMs = 3_600_000
const jitter = 0.1
/** After a pass that Postgres, or a lock, got in the way of. */
const againMs = 3_000
/** The clock is looked at so often: it can be set. */
const lookEveryMs = 5_000
const daysAhead = 2

/**
 * Makes the partitions of the days to come and drops those the policy lets go of, now and every hour. Any number
 * of replicas may do so at once.
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
        await delay(Math.min(msToIdleTick(lookEveryMs), next - nowMs()), closing.signal)
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
  const { sql } = options.database
  const now = options.nowMs()
  const heldUntil = lastExpiredDay(now, options.heldDays)
  const days = await listDaysUntil(sql, lastExpiredDay(now, options.keptDays))
  let complete = true
  // Events last: a replay that goes may be the last one that refers to an earlier day's.
  for (const step of [
    (day: number) => dropDeliveryDay(options, day, day <= heldUntil),
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
  // Checks first, since a drop blocks all others for a moment.
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
