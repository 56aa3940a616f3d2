import type { Actor, EventSource, TenantScope } from '@opsplane/contracts'
import { formatRole } from '@opsplane/postgres'

/** The data of one workspace in one environment: a schema, with roles of its own. */
export interface Space {
  id: string
  workspaceId: string
  environment: TenantScope['environment']
  schema: string
  /** What the names of its roles begin with, before the schema. */
  rolePrefix: string
  /** Which data database holds it. */
  server: string
}

/** A login of a space: `runtime` reads and writes rows, `reader` reads them, `migrator` changes what there is. */
export type SpaceRole = 'runtime' | 'reader' | 'migrator'

/** The role that has the tables of a space, or a login of it. */
export const roleOfSpace = (
  { schema, rolePrefix }: Pick<Space, 'schema' | 'rolePrefix'>,
  role: SpaceRole | 'owner',
): string => formatRole({ rolePrefix }, spaceRoleName(schema, role))

/** The same without the prefix of the installation, which backups go by. */
export const spaceRoleName = (schema: string, role: SpaceRole | 'owner'): string => `${schema}_${role}`

/** Whom the journal names. A CommandMeta has all of it. */
export interface JournalActor {
  actor: Actor
  requestId: string | null
  causationId?: string | null
  source?: EventSource | null
  /** Whom the journal names for single records instead, by their ids. */
  records?: Record<string, Pick<JournalActor, 'actor' | 'requestId' | 'causationId' | 'source'>>
  /** The Idempotency-Key whose answer may be kept in the same transaction. */
  keeps?: string
  /** Versions of the definitions a write goes by, by table: by an older one it fails with SQLSTATE 55000. */
  definitions?: Record<string, number>
}
