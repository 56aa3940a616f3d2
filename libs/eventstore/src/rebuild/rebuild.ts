import { type Decider, stringifyExact } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { type Database, isDeadlock, isLockTimeout, openClient, quoteIdentifier } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import type { RowWrite } from '../append/commit.js'
import { insertRows } from '../append/row-writes.js'
import { requireFoldedMonths } from '../archive/months.js'
import { projectedRows } from '../decision-rows.js'
import { settledPosition } from '../log-end.js'
import { type Sealed, unseal } from '../sealed.js'
import { createShadowTables, type ShadowTables } from './shadow-tables.js'

/** The members of a decider, of any state type, that refolding needs. */
export type AnyDecider = Pick<Decider<{ id: string }, never, unknown>, 'table' | 'project'>

export interface RebuildOptions {
  /** Connects as a role that owns the service's tables and may create schemas. */
  adminUrl: string
  schema: string
  deciders: readonly AnyDecider[]
  /** Read-model tables that deciders write through project(), in addition to their own. */
  projectedTables?: readonly string[]
  /** Called after every batch with the number of events folded so far. */
  onProgress?(events: number): void
}

interface StoredEvent {
  position: string
  stream_type: string
  stream_id: string
  version: number
  type: string
  workspace_id: string
  environment: string
  data: { before: unknown; after: Record<string, unknown> | null; changes: unknown }
  sealed: Sealed | null
}

const batchSize = 500
/** Maximum wait for a table lock, because all other transactions queue behind it; then the whole step is retried. */
const lockTimeoutMs = 250
const pauseMs = 100
const maxTries = 600

/**
 * Rebuilds the read models from the log during reads and writes: into separate tables that catch up with the log
 * and then replace the old ones. Only that last step blocks other transactions. Journals have no read models.
 * Throws without changing anything if months it needs are detached (DetachedMonthsError), or if the log contains
 * events of a decider that was not given, because their rows would be lost. Returns the number of folded events.
 */
export const rebuild = (options: RebuildOptions): Promise<{ events: number }> =>
  withExclusiveLocks(options, (sql) => rebuildWith(sql, options))

/** Runs `work` on one connection with the exclusive right to use the schema's shadow tables. */
export async function withExclusiveLocks<T>(
  { schema, adminUrl }: Pick<RebuildOptions, 'schema' | 'adminUrl'>,
  work: (sql: Database['sql']) => Promise<T>,
): Promise<T> {
  const sql = openClient(adminUrl, {
    schema,
    max: 1,
    applicationName: `opsplane-${schema}-rebuild`,
    settings: { statement_timeout: '0', idle_in_transaction_session_timeout: '0' },
  })
  try {
    await sql`select pg_advisory_lock(hashtextextended(${`opsplane.rebuild/${schema}`}, 0))`
    await requireFoldedMonths(sql)
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** All tables that folding the log fills, in the order they are locked. */
export const foldedTables = ({
  deciders,
  projectedTables = [],
}: Pick<RebuildOptions, 'deciders' | 'projectedTables'>): string[] =>
  [...new Set([...deciders.map(({ table }) => table), ...projectedTables])].sort()

async function rebuildWith(sql: Database['sql'], options: RebuildOptions): Promise<{ events: number }> {
  const tables = foldedTables(options)
  const shadows = await createShadowTables(sql, options.schema, tables)
  try {
    const fold = createFold(shadows, options)
    let progress = await fold(sql, initialFold, String(await settledPosition(sql)))
    await shadows.complete()
    for (let tries = 1; ; tries++) {
      progress = await catchUp(sql, fold, progress)
      try {
        // Progress counts only once it is committed: after a rollback the events are folded again.
        progress = await sql.begin(async (tx) => {
          await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`)
          // Every append writes to one of these tables, so none is running from here on.
          await tx.unsafe(`lock table ${tables.map(quoteIdentifier).join(', ')} in access exclusive mode`)
          const all = await fold(tx, progress, null)
          await shadows.swap(tx)
          return all
        })
        break
      } catch (error) {
        if ((!isLockTimeout(error) && !isDeadlock(error)) || tries === maxTries) throw error
        await delay(pauseMs)
      }
    }
    await shadows.validate()
    return { events: progress.events }
  } finally {
    await shadows.drop()
  }
}

/** Progress of folding the log. */
interface Folded {
  /** Everything up to this position is folded. */
  position: string
  /** Number of events folded. */
  events: number
}

export const initialFold: Folded = { position: '0', events: 0 }

type Fold = ReturnType<typeof createFold>

/** Folds until the remainder is small enough to be folded while writers wait. */
async function catchUp(sql: Database['sql'], fold: Fold, from: Folded): Promise<Folded> {
  const progress = await fold(sql, from, String(await settledPosition(sql)))
  return progress.events - from.events > batchSize ? catchUp(sql, fold, progress) : progress
}

/** Folds the log into the shadow tables in batches. */
export function createFold(shadows: ShadowTables, { deciders, onProgress }: RebuildOptions) {
  const byTable = new Map(deciders.map((decider) => [decider.table, decider]))
  /**
   * Folds up to `position`, or to the end. The returned progress is valid once the caller's transaction has
   * committed.
   */
  return async (sql: StatementRunner, from: Folded, position: string | null): Promise<Folded> => {
    let progress = from
    for (;;) {
      const batch = await sql.unsafe<StoredEvent[]>(nextEvents, [progress.position, position], {
        prepare: true,
      })
      const last = batch.at(-1)
      if (!last) return { ...progress, position: position ?? progress.position }
      await write(sql, shadows, lastWrites(batch, byTable))
      progress = { position: last.position, events: progress.events + batch.length }
      onProgress?.(progress.events)
    }
  }
}

const nextEvents = `
  select position, stream_type, stream_id, version, type, workspace_id, environment, data, sealed
  from events where position > $1::text::bigint and ($2::text is null or position <= $2::text::bigint)
    and stream_type not in (select j.stream_type from journals j)
  order by position limit ${batchSize}`

async function write(sql: StatementRunner, shadows: ShadowTables, rows: readonly RowWrite[]): Promise<void> {
  const tables = [...new Set(rows.map(({ table }) => table))]
  // All rows are deleted before any is written: a unique value may move from one row to another.
  for (const table of tables) {
    const ids = rows.filter((row) => row.table === table).map(({ id }) => id)
    await sql.unsafe(`delete from ${shadows.of(table)} where id = any($1::text[])`, [ids])
  }
  for (const table of tables)
    await insertRows(
      sql,
      shadows.of(table),
      rows.filter((row) => row.table === table && row.state !== null),
    )
}

/** The writes that a sequence of events amounts to: the last one of each row. */
function lastWrites(events: StoredEvent[], deciders: ReadonlyMap<string, AnyDecider>): RowWrite[] {
  const rows = new Map<string, RowWrite>()
  for (const event of events) {
    const decider = deciders.get(event.stream_type)
    if (!decider) throw new Error(`the log has events of ${event.stream_type}, for which there is no decider`)
    const { before: _, after, changes: __, ...extras } = event.data
    const state = after && asState(unseal(after, event.sealed))
    for (const row of projectedRows(decider, event.stream_id, { type: event.type, after: state, extras })) {
      rows.set(`${row.table}/${row.id}`, {
        table: row.table,
        id: row.id,
        workspaceId: event.workspace_id,
        environment: event.environment,
        version: event.version,
        state: row.state && stringifyExact(row.state),
      })
    }
  }
  return [...rows.values()]
}

function asState(state: Record<string, unknown>): { id: string } {
  if (typeof state.id !== 'string') throw new Error('the log has a state without an id')
  return { ...state, id: state.id }
}
