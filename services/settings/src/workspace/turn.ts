import type { CommandMeta } from '@opsplane/contracts'
import {
  type BackendContext,
  keepAnswer,
  type Transaction,
  type Unit,
  VersionRaceError,
} from '@opsplane/eventstore'
import { statementsOf } from '@opsplane/postgres'
import { eq } from 'drizzle-orm'
import { workspaces } from '../schema.js'

/**
 * Decides about the members and roles of the workspace of `meta`, one request after the other on all replicas, so
 * that what `work` reads in the transaction still holds when its decisions are committed. `work` may run again;
 * it must use no other connection, as those may all be waiting for this turn.
 */
export type TakeTurn = <T>(meta: CommandMeta, work: (unit: Unit, tx: Transaction) => Promise<T>) => Promise<T>

const tries = 3

/** Turns are taken by a lock on the workspace's row. */
export function createTurns({
  store,
  database,
  relay,
}: Pick<BackendContext, 'store' | 'database' | 'relay'>): TakeTurn {
  const attempt: TakeTurn = (meta, work) =>
    database.db.transaction(async (tx) => {
      const { workspaceId } = meta.tenant
      await tx
        .select({ id: workspaces.id })
        .from(workspaces)
        .where(eq(workspaces.id, workspaceId))
        .for('update')
      const result = await store.within(statementsOf(tx), meta, (unit) => work(unit, tx))
      await keepAnswer(tx, meta, result)
      return result
    })

  return async (meta, work) => {
    for (let tried = 1; ; tried++) {
      try {
        const result = await attempt(meta, work)
        relay.wake()
        return result
      } catch (error) {
        // Lost to a request of another workspace, over a login they share.
        if (!(error instanceof VersionRaceError) || tried === tries) throw error
      }
    }
  }
}
