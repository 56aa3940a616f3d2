import { backendNames } from '@opsplane/contracts'
import type { LogSource } from '@opsplane/eventstore'
import {
  type Database,
  isDeadlock,
  jsonArray,
  type LeasedRow,
  leasedWorker,
  openClient,
  type StatementRunner,
} from '@opsplane/postgres'
import { factTableName } from '../dataset/dataset.js'
import { eventDatasets, fedDatasets } from '../dataset/datasets.js'
import { markAll } from './fact-statement.js'
import { dueRebuilds } from './tables.js'
import type { FactWriter } from './write-facts.js'

/**
 * Deletes the facts of events and all rollups, and has the service read the logs of all services again: immediately if
 * it is running, otherwise when it starts. Feeds are read again and overwrite the present facts, because services keep
 * that data only for a limited time. Until the rebuild is complete, answers report a data age of 1970.
 */
export async function rebuildFacts({ adminUrl }: { adminUrl: string }): Promise<void> {
  const sql = openClient(adminUrl, {
    schema: 'analytics',
    max: 1,
    applicationName: 'opsplane-analytics-rebuild',
  })
  try {
    // Fact writers and aggregating workers lock the tables in different orders, so either may cause a deadlock here.
    for (let tries = 1; ; tries++)
      try {
        return await sql.begin(markForRebuild)
      } catch (error) {
        if (!isDeadlock(error) || tries === maxTries) throw error
      }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const maxTries = 10

async function markForRebuild(tx: StatementRunner): Promise<void> {
  const emptied = [...eventDatasets.map(factTableName), 'rollups', 'rollup_sketches', 'rollup_marks']
  const sources = backendNames.map((name) => name.replaceAll('-', '_'))
  await tx.unsafe(`truncate ${emptied.join(', ')}`)
  // The versions continue to count up, so a cached answer never matches the rebuilt facts.
  await tx.unsafe('update fact_versions set version = version + 1')
  await tx.unsafe(
    `insert into fact_rebuilds (source, position, due_at) select unnest($1::text[]), 0, now()
     on conflict (source) do update set position = 0, due_at = now(), held_until = null,
       lease_fence = fact_rebuilds.lease_fence + 1`,
    [jsonArray(sources)],
  )
  await tx.unsafe(
    'update fact_feeds set position = 0, as_of = null, due_at = now(), held_until = null, lease_fence = lease_fence + 1',
  )
  for (const dataset of fedDatasets) await tx.unsafe(markAll(dataset))
}

interface RebuildRow extends LeasedRow {
  key: string
  position: string
}

/** Pages read under one lease; the position is stored after them. */
const pagesAtOnce = 20
const deadlineMs = 120_000

/** Reads the logs to rebuild from. After a crash another replica continues at the stored position. */
export function rebuildWork(logs: readonly LogSource[], writer: FactWriter) {
  return leasedWorker<RebuildRow, number | null>({
    name: 'analytics-rebuild',
    of: dueRebuilds,
    columns: ['position'],
    batch: 2,
    deadlineMs,
    async perform([row], signal) {
      const log = logs.find(({ source }) => source === row?.key)
      // A service that is not installed has no log.
      if (!row || !log) return [null]
      let place: number | null = Number(row.position)
      for (let page = 0; place !== null && page < pagesAtOnce && !signal.aborted; page++)
        place = await readPage(log, place, writer)
      return [place]
    },
    async done(tx, finished) {
      for (const { row, result } of finished)
        await (result === null
          ? tx.unsafe('delete from fact_rebuilds where source = $1', [row.key])
          : tx.unsafe('update fact_rebuilds set position = $2::text::bigint where source = $1', [
              row.key,
              String(result),
            ]))
    },
  })
}

async function readPage(log: LogSource, after: number, writer: FactWriter): Promise<number | null> {
  const { events, next } = await log.page({ after, types: '*' })
  if (events.length > 0) await writer.write(events.map(({ event }) => event))
  return next
}

/** Whether the facts are being rebuilt from the logs. */
export async function isRebuilding({ sql }: Pick<Database, 'sql'>): Promise<boolean> {
  const rows = await sql.unsafe('select from fact_rebuilds limit 1', [], { prepare: true })
  return rows.length > 0
}
