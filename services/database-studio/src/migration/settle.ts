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
 * Records the outcome of a space's run after its transaction ended: appends the migration's event, updates the
 * definitions from the current tables and deletes the run. Does nothing if there is no run. `error` is the reason of a
 * failure. Returns the slugs whose definitions changed.
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
      // The tables have changed even if the migration itself was deleted.
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

/** Due work that settles runs whose service ended before it could. */
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
