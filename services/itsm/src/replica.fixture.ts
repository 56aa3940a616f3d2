import type { CommandMeta, Principal } from '@opsplane/contracts'
import { createEventStore, type Unit } from '@opsplane/eventstore'
import { connect } from '@opsplane/postgres'
import { systemClock } from '@opsplane/runtime'
import { type TestService, waitFor } from '@opsplane/testing'

/** The context of another replica of the service. */
export function createReplica(service: TestService) {
  const database = connect(service.adminUrl, { schema: 'itsm', max: 4 })
  return { database, clock: systemClock, store: createEventStore({ database }) }
}
export type TestReplica = ReturnType<typeof createReplica>

/** Command metadata for this principal. */
export function toCommandMeta({ workspaceId, environment, actor }: Principal): CommandMeta {
  if (workspaceId === undefined || environment === undefined) throw new Error('The person is nowhere.')
  return { tenant: { workspaceId, environment }, actor, now: new Date().toISOString(), requestId: null }
}

/**
 * Starts `act` while the replica has written its decision but not committed
 * it yet. `act` has to wait for the lock and finishes after the commit.
 */
export async function raceWithTransaction<T>(
  { store, database }: TestReplica,
  meta: CommandMeta,
  decide: (unit: Unit) => Promise<unknown>,
  act: () => Promise<T>,
): Promise<T> {
  const acting: Promise<T>[] = []
  await database.sql.begin(async (tx) => {
    await store.within(tx, meta, decide)
    acting.push(act())
    await waitFor(async () => {
      const waiting = await database.sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return waiting.length > 0
    })
  })
  const [done] = await Promise.all(acting)
  if (done === undefined) throw new Error('Nothing was done.')
  return done
}
