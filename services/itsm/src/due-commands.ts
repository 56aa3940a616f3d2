import { Environment, platformTenant, systemActor, type TenantScope } from '@opsplane/contracts'
import { type Unit, VersionRaceError } from '@opsplane/eventstore'
import { type CreateWorker, type DueRow, transactionWorker, type WorkOptions } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { StatementRunner } from './cmdb/columns.js'

export type DueContext = Pick<ServiceContext, 'store'>

/** A due row of a read model, with the state of its aggregate as locked. */
export interface DueAggregate extends DueRow {
  workspace_id: string
  environment: string
  version: number
  state: unknown
}
export const aggregateColumns = ['workspace_id', 'environment', 'version', 'state']

export const toTenant = (row: Pick<DueAggregate, 'workspace_id' | 'environment'>): TenantScope => ({
  workspaceId: row.workspace_id,
  environment: Environment.parse(row.environment),
})

export interface DueCommandsOptions extends WorkOptions {
  perform(unit: Unit, rows: readonly DueAggregate[], tx: StatementRunner): Promise<unknown>
}

/** Worker that performs due commands on aggregates of all tenants. Each batch is one transaction and one append. */
export function dueCommands({ store }: DueContext, options: DueCommandsOptions): CreateWorker {
  return transactionWorker<DueAggregate>({
    columns: aggregateColumns,
    ...options,
    async perform(tx, rows) {
      const now = rows[0]?.at ?? ''
      const meta = { tenant: platformTenant, actor: systemActor, now, requestId: null }
      await store.within(tx, meta, (unit) => options.perform(unit, rows, tx))
    },
    isRetryable: isLostRace,
  })
}

/** Whether a concurrent write has changed one of the aggregates. */
export const isLostRace = (error: unknown): boolean => error instanceof VersionRaceError
