import type { BackendName } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import { type Database, type DueWork, jsonArray, type LeasedRow, leasedWorker } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import { fedDatasets } from '../dataset/datasets.js'
import { dueFeeds } from './tables.js'
import type { FactWriter } from './write-facts.js'

export interface FeedOptions {
  /** Returns `undefined` for a service that is not installed, which therefore has no changes. */
  findClient(service: BackendName): Pick<ServiceClient, 'get'> | undefined
  writer: Pick<FactWriter, 'writeFed'>
  clock: Clock
  /** Delay before the next poll after one that found nothing, in milliseconds; `feedWaker` brings it forward. */
  restMs: number
}

interface FeedRow extends LeasedRow {
  key: string
  position: string
  /** `null` while the facts are rebuilt. */
  as_of: string | null
}

interface PullResult {
  position: number
  /** `undefined` if more changes remain. */
  asOf: string | undefined
  isNew: boolean
}

/** Pages read under one lease; the position is stored after them. */
const pagesAtOnce = 20
const deadlineMs = 120_000
/** Delay before the next poll after one that found changes, or after events, in milliseconds. */
const soonMs = 1_000
/** Minimum interval at which events bring a poll forward, in milliseconds. */
const wakeEveryMs = 5_000

/**
 * Pulls changes from services, after the stored position. Facts are written idempotently, so another replica can
 * continue after a crash.
 */
export function feedWork(options: FeedOptions) {
  return leasedWorker<FeedRow, PullResult>({
    name: 'analytics-feeds',
    of: dueFeeds,
    columns: ['position', 'as_of'],
    batch: fedDatasets.length,
    together: fedDatasets.length,
    deadlineMs,
    perform: (rows, signal) => Promise.all(rows.map((row) => pull(row, options, signal))),
    async done(tx, finished) {
      const list = (textOf: (each: (typeof finished)[number]) => string | null) =>
        jsonArray(finished.map(textOf))
      await tx.unsafe(
        `update fact_feeds f set position = d.position::bigint, as_of = coalesce(d.as_of::timestamptz, f.as_of),
           due_at = now() + d.pause_ms::float8 * interval '1 ms'
         from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as d (dataset, position, as_of, pause_ms)
         where f.dataset = d.dataset`,
        [
          list(({ row }) => row.key),
          list(({ result }) => String(result.position)),
          list(({ result }) => result.asOf ?? null),
          list(({ result }) => String(pauseMs(result, options))),
        ],
        { prepare: true },
      )
    },
  })
}

function pauseMs({ asOf, isNew }: PullResult, { restMs }: FeedOptions): number {
  if (asOf === undefined) return 0
  return isNew ? soonMs : restMs
}

/**
 * Brings the next poll forward, because deliveries and executions follow events. To be called with each batch of
 * events.
 */
export function feedWaker({ sql }: Pick<Database, 'sql'>, work: Pick<DueWork, 'wake'>): () => void {
  let wokenAt = Number.NEGATIVE_INFINITY
  const bringForward = async () => {
    await sql.unsafe(
      `update fact_feeds set due_at = now() + $1::text::float8 * interval '1 ms'
       where due_at > now() + $1::text::float8 * interval '1 ms'`,
      [String(soonMs)],
      { prepare: true },
    )
    work.wake(soonMs)
  }
  return () => {
    const nowMs = performance.now()
    if (nowMs - wokenAt < wakeEveryMs) return
    wokenAt = nowMs
    // On failure the regular poll finds the changes later.
    bringForward().catch(() => {})
  }
}

async function pull(
  row: FeedRow,
  { findClient, writer, clock }: FeedOptions,
  signal: AbortSignal,
): Promise<PullResult> {
  const began = Number(row.position)
  const dataset = fedDatasets.find(({ name }) => name === row.key)
  const client = dataset && findClient(dataset.feed.service)
  if (!client) return { position: began, asOf: clock.now(), isNew: false }
  let position = began
  for (let pages = 0; pages < pagesAtOnce && !signal.aborted; pages++) {
    const asOf = clock.now()
    const page = await dataset.feed.page(client, position)
    if (page.facts.length > 0) await writer.writeFed(dataset, page.facts, { overwrite: row.as_of === null })
    position = page.position
    if (page.next === null) return { position, asOf, isNew: position > began }
  }
  return { position, asOf: undefined, isNew: true }
}
