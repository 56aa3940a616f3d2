import { type Sealer, wrappingKeyId } from '@opsplane/runtime'
import { asc, desc, eq, gt, ne, sql } from 'drizzle-orm'
import type { Drizzle } from './database.js'
import { dataKeys, newDataKeyRow } from './vault.js'

/** The given master keys do not unwrap the existing data keys. Nothing was changed. */
export class MasterKeyError extends Error {}

/** Number of data keys wrapped by a master key. */
interface DataKeyCount {
  keyId: string
  count: number
}

const wrappedBy = sql<string>`split_part(${dataKeys.wrapped}, '.', 2)`

/** The schemas of this database that contain data keys, of any service. */
export async function schemasWithDataKeys(db: Drizzle): Promise<string[]> {
  const rows = await db.execute<{ name: string }>(sql`
    select n.nspname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relname = 'data_keys' and c.relkind = 'r' order by n.nspname`)
  return rows.map((row) => row.name)
}

/** Counts data keys by master key. Requires no key. */
export async function countDataKeys(db: Drizzle): Promise<DataKeyCount[]> {
  return db
    .select({ keyId: wrappedBy.as('key_id'), count: sql<number>`count(*)::int`.as('count') })
    .from(dataKeys)
    .groupBy(wrappedBy)
    .orderBy(wrappedBy)
}

/** Unwraps every existing data key without changing any. Throws MasterKeyError if one cannot be unwrapped. */
export async function verifyDataKeys(db: Drizzle, sealer: Sealer): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await db
      .select({ id: dataKeys.id, wrapped: dataKeys.wrapped })
      .from(dataKeys)
      .where(gt(dataKeys.id, after))
      .orderBy(asc(dataKeys.id))
      .limit(1_000)
    for (const row of rows) assertUnwraps(row, sealer)
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}

interface RewrapOptions {
  /** Data keys per transaction. */
  batch?: number
  /** Called after each transaction with the number of keys rewrapped so far. */
  onBatch?(rewrapped: number): void | Promise<void>
}

/**
 * Wraps every data key with the sealer's current master key, in batches. Each batch is a separate transaction that
 * locks its rows: after an interruption every row is wrapped by one key or the other, and the next run continues
 * from there. Throws MasterKeyError, before anything is changed, if a data key cannot be unwrapped with any of the
 * sealer's keys.
 */
export async function rewrapDataKeys(
  db: Drizzle,
  sealer: Sealer,
  options: RewrapOptions = {},
): Promise<{ rewrapped: number }> {
  const { batch = 100, onBatch } = options
  await verifyDataKeys(db, sealer)
  let rewrapped = 0
  for (;;) {
    const done = await rewrapBatch(db, sealer, batch)
    rewrapped += done
    if (done > 0) await onBatch?.(rewrapped)
    // A batch is also empty if a concurrent run was faster.
    else if ((await countDataKeys(db)).every(({ keyId }) => keyId === sealer.keyId)) return { rewrapped }
  }
}

function rewrapBatch(db: Drizzle, sealer: Sealer, batch: number): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await tx
      .select({ id: dataKeys.id, wrapped: dataKeys.wrapped })
      .from(dataKeys)
      .where(ne(wrappedBy, sealer.keyId))
      .orderBy(asc(dataKeys.id))
      .limit(batch)
      .for('update')
    for (const row of rows) {
      assertUnwraps(row, sealer)
      await tx
        .update(dataKeys)
        .set({ wrapped: sealer.rewrap(row) })
        .where(eq(dataKeys.id, row.id))
    }
    return rows.length
  })
}

/**
 * Adds a new data key for a workspace, with which every later value is sealed. `null` if the workspace has none
 * yet. Throws MasterKeyError unless its newest key is wrapped by the sealer's current master key, which proves
 * that the services have this master key too.
 */
export async function addDataKeyGeneration(
  db: Drizzle,
  sealer: Sealer,
  workspaceId: string,
): Promise<{ generation: number } | null> {
  return db.transaction(async (tx) => {
    // Concurrent calls would create the same generation, and would miss an ongoing rotation of the master key.
    await tx.execute(sql`lock table ${dataKeys} in share row exclusive mode`)
    const [newest] = await tx
      .select({ id: dataKeys.id, generation: dataKeys.generation, wrapped: dataKeys.wrapped })
      .from(dataKeys)
      .where(eq(dataKeys.workspaceId, workspaceId))
      .orderBy(desc(dataKeys.generation))
      .limit(1)
    if (!newest) return null
    if (wrappingKeyId(newest.wrapped) !== sealer.keyId) throw missingKeyError(newest, [sealer.keyId])
    assertUnwraps(newest, sealer)
    const generation = newest.generation + 1
    await tx.insert(dataKeys).values(newDataKeyRow(sealer, workspaceId, generation))
    return { generation }
  })
}

function assertUnwraps(row: { id: string; wrapped: string }, sealer: Sealer): void {
  if (sealer.unwraps(row)) return
  if (!sealer.keyIds.includes(wrappingKeyId(row.wrapped))) throw missingKeyError(row, sealer.keyIds)
  throw new MasterKeyError(
    `The data key ${row.id} does not open with master key ${wrappingKeyId(row.wrapped)}, which it names: it was altered.`,
  )
}

function missingKeyError(row: { id: string; wrapped: string }, keyIds: readonly string[]): MasterKeyError {
  const id = wrappingKeyId(row.wrapped)
  return new MasterKeyError(
    `The data key ${row.id} is wrapped by master key ${id}; given ${keyIds.length > 1 ? 'are' : 'is'} ${keyIds.join(', ')}.`,
  )
}
