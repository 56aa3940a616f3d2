import { Environment, systemActor } from '@opsplane/contracts'
import { type CreateWorker, type DueRow, transactionWorker } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { DataPlane } from '../data-plane/data-plane.js'
import { duePurges } from './purge-rows.js'
import type { TableAggregate } from './tables.js'
import { purgeTable } from './trash.js'

interface PurgeRow extends DueRow {
  workspace_id: string
  environment: string
}

/** Drops tables whose time in the trash has expired. */
export function purgeWork(
  { store }: Pick<ServiceContext, 'store'>,
  { plane, tables }: { plane: DataPlane; tables: TableAggregate },
): CreateWorker {
  return transactionWorker<PurgeRow>({
    name: 'table-purge',
    of: duePurges,
    columns: ['workspace_id', 'environment'],
    batch: 5,
    async perform(tx, rows) {
      for (const { key: id, at: now, workspace_id: workspaceId, environment } of rows) {
        const tenant = { workspaceId, environment: Environment.parse(environment) }
        const meta = { tenant, actor: systemActor, now, requestId: null }
        await store.within(tx, meta, (unit) => unit.handle(tables, id, { kind: 'purge' }))
        await purgeTable(tx, await plane.space(tenant), id)
        await tx.unsafe('delete from table_purges where table_id = $1', [id])
      }
    },
  })
}
