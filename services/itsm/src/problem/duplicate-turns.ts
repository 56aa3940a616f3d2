import { ApiError, type CommandMeta } from '@opsplane/contracts'
import { type BackendContext, keepAnswer, type Unit, VersionRaceError } from '@opsplane/eventstore'
import { statementsOf } from '@opsplane/postgres'

export type DuplicateContext = Pick<BackendContext, 'store' | 'database'> & {
  relay: Pick<BackendContext['relay'], 'wake'>
}

const tries = 5

/**
 * Decides that problems are duplicates, one request of a tenant after the other on all replicas: what a request reads of
 * another problem still holds when it is committed, so that duplicates never lead round in a circle, however long. `work`
 * may run again; it must use no other connection, as those may all be waiting for this turn.
 */
export function duplicateTurns({ store, database, relay }: DuplicateContext) {
  const attempt = <T>(meta: CommandMeta, work: (unit: Unit) => Promise<T>): Promise<T> =>
    database.db.transaction(async (tx) => {
      const { workspaceId, environment } = meta.tenant
      const statements = statementsOf(tx)
      const turn = `duplicates/${workspaceId}/${environment}`
      // No row is locked: the commit waits for whoever edits the problem, which may wait for its row.
      await statements.unsafe('select pg_advisory_xact_lock(hashtextextended($1, 0))', [turn])
      const result = await store.within(statements, meta, work)
      await keepAnswer(tx, meta, result)
      return result
    })

  return async <T>(meta: CommandMeta, work: (unit: Unit) => Promise<T>): Promise<T> => {
    for (let tried = 1; ; tried++) {
      try {
        const result = await attempt(meta, work)
        relay.wake()
        return result
      } catch (error) {
        // Lost to another command to the same problem.
        if (!(error instanceof VersionRaceError)) throw error
        if (tried === tries)
          throw new ApiError(
            'version_conflict',
            'Others are changing this problem at the same time. Try again.',
          )
      }
    }
  }
}
