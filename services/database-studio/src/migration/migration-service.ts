import type { DryRun, Migration, MigrationPatch, MigrationState, NewMigration } from '@opsplane/contracts'
import type { RequestMeta, RequireEnvironment } from '@opsplane/http'
import type { DataPlane } from '../data-plane/data-plane.js'
import type { Definitions } from '../data-plane/definitions.js'
import type { TableAggregate } from '../table/tables.js'
import type { Migrations, SettleOptions } from './settle.js'

export interface MigrationService {
  migrations: Migrations
  settling: SettleOptions
  create(
    fields: NewMigration,
    meta: RequestMeta,
    promoted?: Pick<MigrationState, 'definition' | 'previous'>,
  ): Promise<Migration>
  /** Throws `conflict` while a migration runs in the environment, since it may be this one. */
  remove(id: string, meta: RequestMeta): Promise<void>
  /** Throws `invalid_state_transition` if it is already applied. */
  edit(id: string, patch: MigrationPatch, meta: RequestMeta): Promise<Migration>
  /** Moves these migrations before all other pending ones, in this order, and returns all pending ones. */
  reorder(ids: readonly string[], meta: RequestMeta): Promise<Migration[]>
  /** With `anyTurn`, applies it even if others precede it in the order. */
  apply(id: string, timeoutMs: number, meta: RequestMeta, options?: { anyTurn?: boolean }): Promise<Migration>
  /** Runs the `up` SQL of another environment's migrations in one transaction and rolls it back. */
  dryRunAll(
    migrations: readonly Migration[],
    timeoutMs: number,
    meta: RequestMeta,
    explain: (error: unknown, index: number) => unknown,
  ): Promise<void>
  rollBack(id: string, timeoutMs: number, meta: RequestMeta): Promise<Migration>
  dryRun(id: string, timeoutMs: number, meta: RequestMeta): Promise<DryRun>
}

export interface MigrationParts {
  plane: DataPlane
  definitions: Definitions
  tables: TableAggregate
  requireEnvironment: RequireEnvironment
  /** Throws `forbidden` if the caller is under a row rule, since SQL would bypass it. */
  refuseRuled(meta: RequestMeta): Promise<void>
}
