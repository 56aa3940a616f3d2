import type { Actor, EventSource, TenantScope } from '@opsplane/contracts'
import { formatRole } from '@opsplane/postgres'

/** The data of one workspace in one environment: a schema with its own roles. */
export interface Space {
  id: string
  workspaceId: string
  environment: TenantScope['environment']
  schema: string
  /** Prefix of its role names, before the schema. */
  rolePrefix: string
  /** The data database that stores it. */
  server: string
}

/** A login of a space: `runtime` reads and writes rows, `reader` reads them, `migrator` changes the schema. */
export type SpaceRole = 'runtime' | 'reader' | 'migrator'

/** The role that owns the tables of a space, or one of its logins. */
export const roleOfSpace = (
  { schema, rolePrefix }: Pick<Space, 'schema' | 'rolePrefix'>,
  role: SpaceRole | 'owner',
): string => formatRole({ rolePrefix }, spaceRoleName(schema, role))

/** Role name without the prefix of the installation, as used in backups. */
export const spaceRoleName = (schema: string, role: SpaceRole | 'owner'): string => `${schema}_${role}`

/** The actor recorded in the journal. A CommandMeta has all of these fields. */
export interface JournalActor {
  actor: Actor
  requestId: string | null
  causationId?: string | null
  source?: EventSource | null
  /** Actors of single records that differ from the actor above, by record id. */
  records?: Record<string, Pick<JournalActor, 'actor' | 'requestId' | 'causationId' | 'source'>>
  /** The Idempotency-Key whose response may be stored in the same transaction. */
  keeps?: string
  /**
   * Definition versions that a write is based on, by table. A write based on an older
   * version fails with SQLSTATE 55000.
   */
  definitions?: Record<string, number>
}
