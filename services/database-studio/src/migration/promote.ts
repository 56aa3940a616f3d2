import { ApiError, type Environment, type Migration } from '@opsplane/contracts'
import { type RequestMeta, readdress } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { findMissing, listMigrations } from '../migration-ledger/ledger.js'
import type { MigrationService } from './migration-service.js'

export interface PromoteOptions {
  from: Environment
  dryRun: boolean
  timeoutMs: number
}

/**
 * Applies to the request's environment the migrations that are applied in another environment of the workspace and
 * missing here, in their order and each in its own transaction, also if pending ones precede them here. A dry run uses
 * one transaction, which is rolled back. Stops at the first failure and throws its error. Returns the promoted
 * migrations, or those that would be promoted. Throws `conflict` if both environments are the same.
 */
export async function promote(
  service: MigrationService,
  { sql }: Pick<Database, 'sql'>,
  { from, dryRun, timeoutMs }: PromoteOptions,
  meta: RequestMeta,
): Promise<Migration[]> {
  if (from === meta.tenant.environment)
    throw new ApiError(
      'conflict',
      'Source and target are the same environment: name another one to promote from.',
    )
  const here = await listMigrations(sql, meta.tenant)
  const missingMigrations = findMissing(
    await listMigrations(sql, { ...meta.tenant, environment: from }),
    here,
  )
  const explain = (error: unknown, index: number) => failedMigration(error, missingMigrations[index])
  if (dryRun) {
    await service.dryRunAll(missingMigrations, timeoutMs, withoutKey(meta), explain)
    return missingMigrations
  }
  const open = here.filter(({ status }) => status !== 'applied')
  const applied: Migration[] = []
  for (const [index, migration] of missingMigrations.entries()) {
    // A migration that failed to apply last time is tried again.
    const at = open.findIndex(({ checksum }) => checksum === migration.checksum)
    const [waiting] = at < 0 ? [] : open.splice(at, 1)
    const { id } = waiting ?? (await service.create(migration, withoutKey(meta), migration))
    const applying = service.apply(id, timeoutMs, withoutKey(meta), { anyTurn: true })
    applied.push(
      await applying.catch((error: unknown) => {
        throw explain(error, index)
      }),
    )
  }
  return applied
}

/** Adds the migration to its error: the caller sent only the source environment. */
function failedMigration(error: unknown, migration: Migration | undefined): unknown {
  if (!(error instanceof ApiError) || !migration) return error
  const { number, name } = migration
  return readdress(
    error,
    ({ params }) => ({ path: '/from', params: { ...params, migration: { number, name } } }),
    { message: `Migration ${number} (${name}): ${error.message}` },
  )
}

/** The request's idempotency key is recorded with the response of the whole promotion. */
function withoutKey(meta: RequestMeta): RequestMeta {
  const { idempotency: _, ...rest } = meta
  return { ...rest, signal: meta.signal, log: meta.log }
}
