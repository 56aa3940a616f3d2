import { randomBytes } from 'node:crypto'
import {
  Actor,
  ApiError,
  Environment,
  EventSource,
  type Migration,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database, StatementRunner } from '@opsplane/postgres'
import { sha256Hex } from '@opsplane/runtime'
import { z } from 'zod'
import type { JournalActor, Space } from '../data-plane/space.js'

export type Direction = 'up' | 'down' | 'dry'

export interface Run {
  space: Space
  migrationId: string
  direction: Direction
  /** Secret that authenticates the migrator's session; held only by this process. */
  token: string
}

const Row = z.object({
  workspaceId: z.string(),
  environment: Environment,
  migrationId: z.string(),
  direction: z.enum(['up', 'down', 'dry']),
  done: z.boolean(),
  acting: z.object({
    actor: Actor,
    requestId: z.string().nullable(),
    source: EventSource.nullish(),
  }),
})
/** The row of a run, locked. */
export type LockedRun = z.infer<typeof Row>

const changeLock = 7_241_005

/**
 * Blocks migrations in a space until this transaction ends, while a definition is changed. Throws `conflict` while a
 * run is in progress, or its tables have not been written to the definitions yet.
 */
export async function refuseWhileRunning(tx: StatementRunner, { id }: Space): Promise<void> {
  await tx.unsafe('select pg_advisory_xact_lock_shared($1, hashtext($2))', [changeLock, id])
  const [running] = await tx.unsafe('select 1 from migration_runs where space_id = $1', [id])
  if (running)
    throw new ApiError('conflict', 'A migration is running in this environment. Try again when it has ended.')
}

/** Added to the deadline of a run's session; after that time the run is certainly over. */
const graceMs = 30_000

/** Runs of migrations: at most one row per space, which also serves as the lock. */
export function createRuns({ sql }: Pick<Database, 'sql'>) {
  return {
    /** Acquires the space for one migration. Throws `conflict` while another migration runs there. */
    async begin(
      space: Space,
      migration: Pick<Migration, 'id'>,
      direction: Direction,
      journalActor: JournalActor,
      timeoutMs: number,
    ): Promise<Run> {
      const token = randomBytes(32).toString('base64url')
      const { actor, requestId, source = null } = journalActor
      const insertedRows = await sql.begin(async (tx) => {
        // Waits for definition changes in flight.
        await tx.unsafe('select pg_advisory_xact_lock($1, hashtext($2))', [changeLock, space.id])
        return tx.unsafe(
          `insert into migration_runs (space_id, workspace_id, environment, migration_id, direction, token_hash, acting, due_at)
         values ($1, $2, $3, $4, $5, $6, $7::text::json, clock_timestamp() + make_interval(secs => $8::text::float8 / 1000))
         on conflict do nothing returning space_id`,
          [
            ...[space.id, space.workspaceId, space.environment, migration.id, direction, sha256Hex(token)],
            ...[JSON.stringify({ actor, requestId, source }), String(timeoutMs + graceMs)],
          ],
        )
      })
      if (insertedRows.length === 0)
        throw new ApiError(
          'conflict',
          'Another migration runs in this environment. Try again when it is over.',
        )
      return { space, migrationId: migration.id, direction, token }
    },

    /** Releases the space if nothing was applied. */
    async end({ space, token }: Run): Promise<void> {
      await sql.unsafe(
        'delete from migration_runs where space_id = $1 and token_hash = $2 and done_at is null',
        [space.id, sha256Hex(token)],
      )
    },
  }
}
export type Runs = ReturnType<typeof createRuns>

/** Locks and returns the run of a space, whose transaction is then over. Returns `undefined` if there is none. */
export async function lockRun(tx: StatementRunner, spaceId: string): Promise<LockedRun | undefined> {
  const [row] = await tx.unsafe(
    `select workspace_id as "workspaceId", environment, migration_id as "migrationId", direction, acting,
       done_at is not null as done
     from migration_runs where space_id = $1 for update`,
    [spaceId],
  )
  return row && Row.parse(row)
}

export const removeRun = (tx: StatementRunner, spaceId: string) =>
  tx.unsafe('delete from migration_runs where space_id = $1', [spaceId])

export const toTenant = ({
  workspaceId,
  environment,
}: Pick<LockedRun, 'workspaceId' | 'environment'>): TenantScope => ({
  workspaceId,
  environment,
})
