import type { CommandMeta, TenantScope } from '@opsplane/contracts'
import { type Database, statementsOf, translatePostgresError } from '@opsplane/postgres'
import { keepAnswer } from './append/keep-answer.js'
import type { Transaction } from './consume/consume.js'
import { VersionRaceError, versionConflict } from './errors.js'
import type { Relay } from './relay/relay.js'
import type { EventStore } from './store.js'
import type { Unit } from './unit.js'

export interface TurnContext {
  store: EventStore
  database: Database
  relay: Pick<Relay, 'wake'>
}

/**
 * Decides what rests on more than is written, one request after the other on all replicas: what `work` reads still holds
 * when its decisions are committed, among all that wait for the same turn. `work` may run again; it must use no other
 * connection, as those may all be waiting for this turn.
 */
export type TakeTurn = <T>(meta: CommandMeta, work: (unit: Unit, tx: Transaction) => Promise<T>) => Promise<T>

/** Waits, in a transaction, until nobody else has the turn; it is given back with the transaction. */
export type WaitForTurn = (tx: Transaction, tenant: TenantScope) => Promise<unknown>

const tries = 5

export function takeTurns({ store, database, relay }: TurnContext, waitForTurn: WaitForTurn): TakeTurn {
  const attempt: TakeTurn = (meta, work) =>
    database.db.transaction(async (tx) => {
      await waitForTurn(tx, meta.tenant)
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
        // Lost to a command that takes no turns.
        if (!(error instanceof VersionRaceError)) throw translatePostgresError(error)
        if (tried === tries) throw versionConflict()
      }
    }
  }
}

/**
 * One turn of this name for each tenant. No row is locked: a commit waits for whoever writes to the same record, which may
 * wait for its row.
 */
export const turnOfTenant =
  (name: string): WaitForTurn =>
  (tx, { workspaceId, environment }) =>
    statementsOf(tx).unsafe('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `${name}/${workspaceId}/${environment}`,
    ])
