import { createHash } from 'node:crypto'
import {
  ApiError,
  type Environment,
  Migration,
  type MigrationState,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database, StatementRunner } from '@opsplane/postgres'
import { z } from 'zod'

type Wording = Pick<MigrationState, 'up' | 'down' | 'transactional'>

/** Checksum over the parts that determine the effect of a migration; equal for two migrations with the same effect. */
export const computeChecksum = ({ up, down, transactional }: Wording): string =>
  createHash('sha256')
    .update(JSON.stringify([up, down, transactional]))
    .digest('hex')

const Row = z.object({ version: z.number(), state: Migration.omit({ version: true }) })

/** Name of the sequence that numbers an environment's migrations. */
export const toSequenceName = (environment: Environment): string => `migration/${environment}`

/** All migrations of a tenant, in order. */
export async function listMigrations(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
): Promise<Migration[]> {
  const rows = await sql.unsafe(
    'select version, state from migrations where workspace_id = $1 and environment = $2 order by number',
    [workspaceId, environment],
  )
  return z
    .array(Row)
    .parse([...rows])
    .map(({ version, state }) => ({ ...state, version }))
}

/** Throws `conflict` unless the migration is the next one to apply, or the last one applied. */
export async function checkOrder(
  { sql }: Pick<Database, 'sql'>,
  tenant: TenantScope,
  { number }: Pick<Migration, 'number'>,
  direction: 'up' | 'down' | 'dry',
): Promise<void> {
  const [found] = await sql.unsafe<{ number: number; name: string }[]>(
    direction === 'down'
      ? `select number, state->>'name' as name from migrations
         where workspace_id = $1 and environment = $2 and number > $3 and status = 'applied' order by number desc limit 1`
      : `select number, state->>'name' as name from migrations
         where workspace_id = $1 and environment = $2 and number < $3 and status <> 'applied' order by number limit 1`,
    [tenant.workspaceId, tenant.environment, number],
  )
  if (!found) return
  const migrationLabel = `migration ${found.number} (${found.name})`
  throw new ApiError(
    'conflict',
    direction === 'down'
      ? `A later migration is applied: ${migrationLabel}. Roll it back first.`
      : `An earlier migration is not applied: ${migrationLabel}. Apply or delete it, or move it after this one.`,
  )
}

/** Whether a migration that comes later in the order is already applied. */
export async function isOvertaken(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  { number }: Pick<Migration, 'number'>,
): Promise<boolean> {
  const found = await sql.unsafe(
    `select from migrations where workspace_id = $1 and environment = $2 and number > $3 and status = 'applied' limit 1`,
    [workspaceId, environment, number],
  )
  return found.length > 0
}

/** Throws `conflict` if the SQL differs from the SQL that was checked when the migration was written. */
export function checkChecksum(migration: Wording & Pick<MigrationState, 'checksum'>): void {
  if (computeChecksum(migration) !== migration.checksum)
    throw new ApiError('conflict', 'The SQL of the migration does not match its checksum.')
}

/** Migrations applied in `from` that are not applied in `to`, in the order of `from`. Compared by checksum. */
export function findMissing(from: readonly Migration[], to: readonly Migration[]): Migration[] {
  const applied = to.filter(({ status }) => status === 'applied').map(({ checksum }) => checksum)
  return from.filter(({ status, checksum }) => {
    if (status !== 'applied') return false
    const at = applied.indexOf(checksum)
    if (at >= 0) applied.splice(at, 1)
    return at < 0
  })
}
