import type { BackendName } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import { type Database, type DueWork, jsonArray, type LeasedRow, leasedWorker } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import { fedDatasets } from '../dataset/datasets.js'
import { dueFeeds } from './tables.js'
import type { FactWriter } from './write-facts.js'

export interface FeedOptions {
  /** Undefined for a service that is not installed: it has nothing to tell. */
  findClient(service: BackendName): Pick<ServiceClient, 'get'> | undefined
  writer: Pick<FactWriter, 'writeFed'>
  clock: Clock
  /** How long after a look that found nothing the next one is due; `feedWaker` brings it forward. */
  restMs: number
}

interface FeedRow extends LeasedRow {
  key: string
  position: string
  /** Null while the facts are rebuilt. */
  as_of: string | null
}

interface PullResult {
  position: number
  /** Undefined where there is more to come. */
  asOf: string | undefined
  isNew: boolean
}

/** Pages that are read under one lease; the place is kept after them. */
const pagesAtOnce = 20
const deadlineMs = 120_000
/** How long after a look that found something, or after events, the next one is due. */
const soonMs = 1_000
/** Events bring a look forward so often at most. */
const wakeEveryMs = 5_000

/**
 * Pulls changes from services, after the stored position. Facts are written idempotently, so another replica can continue
 * where one died.
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

/** Where there are events, deliveries and executions follow: to be called with each batch of them. */
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
    // They are looked for later without it.
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
