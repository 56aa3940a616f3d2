import type { CommandMeta, TenantScope } from '@opsplane/contracts'
import { type Database, toStatementRunner, translatePostgresError } from '@opsplane/postgres'
import { storeIdempotentResponse } from './append/idempotent-response.js'
import type { Transaction } from './consume/transaction.js'
import { VersionRaceError, versionConflict } from './errors.js'
import type { EventStore } from './store.js'
import type { Unit } from './unit.js'

export interface SerializerContext {
  store: EventStore
  database: Database
}

/**
 * Runs decisions that depend on more than the rows they write one after the other, across all replicas: what
 * `work` reads stays valid until its decisions are committed, among all callers that use the same lock. `work` may
 * be repeated. It must use no other connection, because all of them may be waiting for this lock.
 */
export type Serialized = <T>(
  meta: CommandMeta,
  work: (unit: Unit, tx: Transaction) => Promise<T>,
) => Promise<T>

/** Waits, in a transaction, until the lock is free; it is released when the transaction ends. */
type AcquireLock = (tx: Transaction, tenant: TenantScope) => Promise<unknown>

const tries = 5

export function serializer({ store, database }: SerializerContext, acquireLock: AcquireLock): Serialized {
  const attempt: Serialized = (meta, work) =>
    database.db.transaction(async (tx) => {
      await acquireLock(tx, meta.tenant)
      const result = await store.within(toStatementRunner(tx), meta, (unit) => work(unit, tx))
      await storeIdempotentResponse(tx, meta, result)
      return result
    })

  return async (meta, work) => {
    for (let tried = 1; ; tried++) {
      try {
        return await attempt(meta, work)
      } catch (error) {
        // Lost a race against a command that does not use the lock.
        if (!(error instanceof VersionRaceError)) throw translatePostgresError(error)
        if (tried === tries) throw versionConflict()
      }
    }
  }
}

/**
 * One advisory lock with this name per tenant. No row is locked: a commit waits for writers of the same record,
 * which may in turn wait for that row.
 */
export const lockTenant =
  (name: string): AcquireLock =>
  (tx, { workspaceId, environment }) =>
    toStatementRunner(tx).unsafe('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `${name}/${workspaceId}/${environment}`,
    ])
