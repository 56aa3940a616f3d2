import type { Decider } from '@opsplane/contracts'
import { deadlocked, openClient } from '@opsplane/postgres'
import type { RowWrite } from './commit.js'
import { projected } from './decided.js'
import { insertRows } from './row-writes.js'
import { type Sealed, unseal } from './sealed.js'

/** A decider of any state, as far as refolding needs it. */
export type AnyDecider = Pick<Decider<{ id: string }, never, unknown>, 'table' | 'project'>

export interface RebuildOptions {
  /** A role that owns the service's tables. */
  adminUrl: string
  schema: string
  deciders: readonly AnyDecider[]
  /** Read-model tables that deciders write through project(), beside their own. */
  projectedTables?: readonly string[]
  /** Told how many events were folded so far, after every batch. */
  onProgress?(events: number): void
}

export interface StoredEvent {
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
/** A writer that holds a row and wants to append waits for whoever waits for that row; Postgres ends one of the two. */
const mostTries = 10

/**
 * Empties the read models and folds them anew from the log, in one transaction: readers see the old rows until
 * it commits, writers wait. It begins anew where it is ended for a writer's sake. Throws when the log has events of a
 * decider that was not given, as their rows would be lost. Returns how many events were folded.
 */
export async function rebuild(options: RebuildOptions): Promise<{ events: number }> {
  const { adminUrl, schema } = options
  const deciders = new Map(options.deciders.map((decider) => [decider.table, decider]))
  const sql = openClient(adminUrl, {
    schema,
    max: 1,
    applicationName: `opsplane-${schema}-rebuild`,
    settings: { statement_timeout: '0', idle_in_transaction_session_timeout: '0' },
  })
  const refold = () =>
    sql.begin(async (tx) => {
      // Appends wait here, so that nothing is committed between reading the log and writing the rows.
      await tx`lock table events in share mode`
      for (const table of new Set([...deciders.keys(), ...(options.projectedTables ?? [])])) {
        await tx`delete from ${tx(table)}`
      }
      let events = 0
      for (let after = '0'; ; ) {
        const batch = await tx<StoredEvent[]>`
          select position, stream_type, stream_id, version, type, workspace_id, environment, data, sealed
          from events where position > ${after} order by position limit ${batchSize}`
        const last = batch.at(-1)
        if (!last) return { events }
        const rows = lastWrites(batch, deciders)
        // All make way before any is written: a value that has to be unique may pass from one row to another.
        const tables = [...new Set(rows.map(({ table }) => table))]
        for (const table of tables) {
          const ids = rows.filter((row) => row.table === table).map(({ id }) => id)
          await tx`delete from ${tx(table)} where id = any(${ids})`
        }
        for (const table of tables)
          await insertRows(
            tx,
            table,
            rows.filter((row) => row.table === table && row.state !== null),
          )
        events += batch.length
        options.onProgress?.(events)
        after = last.position
      }
    })
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await refold()
      } catch (error) {
        if (!deadlocked(error) || tries === mostTries) throw error
      }
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The writes a run of events comes to: for each row the last one. */
export function lastWrites(events: StoredEvent[], deciders: ReadonlyMap<string, AnyDecider>): RowWrite[] {
  const rows = new Map<string, RowWrite>()
  for (const event of events) {
    const decider = deciders.get(event.stream_type)
    if (!decider) throw new Error(`the log has events of ${event.stream_type}, for which there is no decider`)
    const { before: _, after, changes: __, ...extras } = event.data
    const state = after && asState(unseal(after, event.sealed))
    for (const row of projected(decider, event.stream_id, { type: event.type, after: state, extras })) {
      rows.set(`${row.table}/${row.id}`, {
        table: row.table,
        id: row.id,
        workspaceId: event.workspace_id,
        environment: event.environment,
        version: event.version,
        state: row.state && JSON.stringify(row.state),
      })
    }
  }
  return [...rows.values()]
}

function asState(state: Record<string, unknown>): { id: string } {
  if (typeof state.id !== 'string') throw new Error('the log has a state without an id')
  return { ...state, id: state.id }
}
