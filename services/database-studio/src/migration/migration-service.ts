import type { DryRun, Migration, MigrationState, NewMigration } from '@opsplane/contracts'
import type { RequestMeta, RequireEnvironment } from '@opsplane/http'
import type { DataPlane } from '../plane/data-plane.js'
import type { Definitions } from '../plane/definitions.js'
import type { TableAggregate } from '../table/tables.js'
import type { Migrations, Settling } from './settle.js'

export interface MigrationService {
  migrations: Migrations
  settling: Settling
  create(
    fields: NewMigration,
    meta: RequestMeta,
    promoted?: Pick<MigrationState, 'definition' | 'previous'>,
  ): Promise<Migration>
  /** Throws `conflict` while a migration runs in the environment: it may be this one. */
  remove(id: string, meta: RequestMeta): Promise<void>
  apply(id: string, timeoutMs: number, meta: RequestMeta): Promise<Migration>
  rollBack(id: string, timeoutMs: number, meta: RequestMeta): Promise<Migration>
  dryRun(id: string, timeoutMs: number, meta: RequestMeta): Promise<DryRun>
}

export interface MigrationParts {
  plane: DataPlane
  definitions: Definitions
  tables: TableAggregate
  requireEnvironment: RequireEnvironment
  /** Throws `forbidden` where a row rule binds the caller: SQL would reach past it. */
  refuseRuled(meta: RequestMeta): Promise<void>
}
