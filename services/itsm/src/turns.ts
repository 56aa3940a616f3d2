import { ApiError, type CommandMeta } from '@opsplane/contracts'
import {
  type BackendContext,
  keepAnswer,
  type Transaction,
  type Unit,
  VersionRaceError,
} from '@opsplane/eventstore'
import { statementsOf, translatePostgresError } from '@opsplane/postgres'

export type TurnContext = Pick<BackendContext, 'store' | 'database'> & {
  relay: Pick<BackendContext['relay'], 'wake'>
}

/**
 * Decides what rests on more than is written, one request of a tenant after the other on all replicas: what `work` reads
 * still holds when its decisions are committed, among all that take turns of this name. `work` may run again; it must use
 * no other connection, as those may all be waiting for this turn.
 */
export type TakeTurn = <T>(meta: CommandMeta, work: (unit: Unit, tx: Transaction) => Promise<T>) => Promise<T>

const tries = 5

export function takeTurns({ store, database, relay }: TurnContext, name: string): TakeTurn {
  const attempt: TakeTurn = (meta, work) =>
    database.db.transaction(async (tx) => {
      const { workspaceId, environment } = meta.tenant
      const statements = statementsOf(tx)
      const turn = `${name}/${workspaceId}/${environment}`
      // No row is locked: the commit waits for whoever writes to the same record, which may wait for its row.
      await statements.unsafe('select pg_advisory_xact_lock(hashtextextended($1, 0))', [turn])
      const result = await store.within(statements, meta, (unit) => work(unit, tx))
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
        // Lost to a command that takes no turns.
        if (!(error instanceof VersionRaceError)) throw translatePostgresError(error)
        if (tried === tries)
          throw new ApiError(
            'version_conflict',
            'Others are changing this resource at the same time. Try again.',
          )
      }
    }
  }
}
