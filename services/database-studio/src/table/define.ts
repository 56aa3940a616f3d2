import { ApiError, type CommandMeta } from '@opsplane/contracts'
import { type EventStore, storeIdempotentResponse, type Unit, VersionRaceError } from '@opsplane/eventstore'
import { type Database, quoteIdentifier, type StatementRunner, toDrizzle } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { roleOfSpace, type Space } from '../data-plane/space.js'
import { refuseWhileRunning } from '../migration-ledger/runs.js'
import { definitionFailure } from './failures.js'

/** A transaction that changes a schema together with the table definitions. */
export interface DefinitionTransaction {
  tx: StatementRunner
  unit: Unit
  /** Runs `work` as the owner role of the space. */
  asOwner<T>(work: (tx: StatementRunner) => Promise<T>): Promise<T>
}

/** Runs `work` in one transaction with the schema changes, the events and the stored response. Throws ApiError. */
export type Define = <T>(
  space: Space,
  meta: CommandMeta,
  work: (defining: DefinitionTransaction) => Promise<T>,
) => Promise<T>

const lockTimeoutMs = 5_000
const statementTimeoutMs = 55_000

export function createDefine(ctx: Pick<ServiceContext, 'database' | 'store'>): Define {
  return async (space, meta, work) => {
    try {
      const { value } = await ctx.database.sql.begin(async (tx) => ({
        value: await defineWithin(ctx, tx, space, meta, work),
      }))
      return value
    } catch (error) {
      if (error instanceof VersionRaceError)
        throw new ApiError('version_conflict', 'It was changed meanwhile. Try again.')
      throw definitionFailure(error, space)
    }
  }
}

async function defineWithin<T>(
  { store }: { store: EventStore; database: Database },
  tx: StatementRunner,
  space: Space,
  meta: CommandMeta,
  work: (defining: DefinitionTransaction) => Promise<T>,
): Promise<T> {
  const { actor, requestId, causationId = null, source = null } = meta
  await tx.unsafe(
    `select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true), set_config('studio.acting', $3, true)`,
    [
      String(lockTimeoutMs),
      String(statementTimeoutMs),
      JSON.stringify({ actor, requestId, causationId, source }),
    ],
  )
  await refuseWhileRunning(tx, space)
  const asOwner: DefinitionTransaction['asOwner'] = async (work) => {
    await tx.unsafe(`set local role ${quoteIdentifier(roleOfSpace(space, 'owner'))}`)
    const value = await work(tx)
    await tx.unsafe('set local role none')
    return value
  }
  const value = await store.within(tx, meta, (unit) => work({ tx, unit, asOwner }))
  await storeIdempotentResponse(toDrizzle(tx), meta, value)
  return value
}
