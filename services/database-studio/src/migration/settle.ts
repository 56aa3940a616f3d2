import type { MigrationState } from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import { type EventStore, VersionRaceError } from '@opsplane/eventstore'
import { type CreateWorker, type DueRow, type StatementRunner, transactionWorker } from '@opsplane/postgres'
import type { MigrationCommand } from '../migration-ledger/domain.js'
import { isOvertaken, toSequenceName } from '../migration-ledger/ledger.js'
import { lockRun, removeRun, toTenant } from '../migration-ledger/runs.js'
import { dueRuns } from '../sql/tables.js'
import type { TableAggregate } from '../table/tables.js'
import { computePurgeTime, listTrashedTables, planPurge } from '../table/trash.js'
import { defineTables, knownTables, listSlugs, parseShapes, tableChanges } from './table-changes.js'

export type Migrations = Aggregate<MigrationState, MigrationCommand, MigrationState & { version: number }>

export interface SettleOptions {
  store: EventStore
  migrations: Migrations
  tables: TableAggregate
}

/**
 * Writes down what has become of the run of a space, once its transaction is over: the migration's event, definitions of the
 * tables as they are now, and the run is no more. Nothing where there is none. `error` says why it failed, if it did. Returns slugs
 * whose definitions have changed.
 */
export async function settleRun(
  { store, migrations, tables }: SettleOptions,
  tx: StatementRunner,
  { spaceId, now, error }: { spaceId: string; now: string; error?: string },
): Promise<string[]> {
  const run = await lockRun(tx, spaceId)
  if (!run) return []
  const { direction, migrationId, done, acting } = run
  const tenant = toTenant(run)
  const meta = { tenant, now, ...acting, source: acting.source ?? null }
  let slugs: string[] = []
  if (done) {
    const [row] = await tx.unsafe('select space_shapes($1) as shapes', [spaceId])
    const known = await knownTables(tx, tenant)
    const inTrash = await listTrashedTables(tx, spaceId)
    const changes = await store.within(tx, meta, async (unit) => {
      const found = await unit.find(migrations, migrationId)
      const { definition = null, previous = null } = found?.state ?? {}
      const promoted = direction === 'up' ? definition : previous
      const changes = tableChanges(known, parseShapes(row?.shapes), { promoted, inTrash })
      // Its tables are what it has made them, also where the migration itself is gone.
      if (found && direction === 'down')
        await unit.handle(migrations, migrationId, { kind: 'roll_back', now })
      else if (found) {
        const { number: place } = found.state
        const isLate = await isOvertaken(tx, tenant, found.state)
        const number = isLate
          ? await store.numbers.next(tenant.workspaceId, toSequenceName(tenant.environment))
          : place
        await unit.handle(migrations, migrationId, { kind: 'apply', number, now })
      }
      await defineTables(unit, tables, changes, now)
      return changes
    })
    slugs = listSlugs(changes)
    for (const { id, inTrash } of changes.deleted)
      if (inTrash) await planPurge(tx, tenant, id, computePurgeTime(now))
      else await tx.unsafe('select drop_capture($1)', [id])
    await tx.unsafe('select keep_shapes($1)', [spaceId])
  } else if (direction !== 'dry') {
    const reason = error ?? 'It was interrupted, and has changed nothing.'
    await store.within(tx, meta, async (unit) => {
      const found = await unit.find(migrations, migrationId)
      if (found) await unit.handle(migrations, migrationId, { kind: 'fail', error: reason, now })
    })
  }
  await removeRun(tx, spaceId)
  return slugs
}

/** Settles the runs whose service has ended before it could. */
export const settleRunsWork = (settling: SettleOptions): CreateWorker =>
  transactionWorker<DueRow>({
    name: 'migration-runs',
    of: dueRuns,
    batch: 20,
    async perform(tx, rows) {
      for (const { key, at } of rows) await settleRun(settling, tx, { spaceId: key, now: at })
    },
    isRetryable: (error) => error instanceof VersionRaceError,
  })
