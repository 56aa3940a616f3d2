import { type DataKey, parseKeyGeneration, type Sealer, type WrappedDataKey } from '@opsplane/runtime'
import { and, desc, eq } from 'drizzle-orm'
import { integer, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'
import { LRUCache } from 'lru-cache'
import type { Drizzle } from './database.js'

/** Data keys by workspace, wrapped by the master key. Sealed values name the key they were sealed with. */
export const dataKeys = pgTable(
  'data_keys',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    generation: integer('generation').notNull(),
    wrapped: text('wrapped').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, mode: 'string' }).notNull().defaultNow(),
  },
  (table) => [uniqueIndex('data_keys_workspace_idx').on(table.workspaceId, table.generation)],
)

export interface Vault {
  /** Seals a text, which can be opened only with the same workspace and aad. */
  seal(workspaceId: string, plaintext: string, aad: string): Promise<string>
  open(workspaceId: string, sealed: string, aad: string): Promise<string>
}

const maxKnownKeys = 10_000

/**
 * Seals values with the newest data key of the workspace. The first key is created on first use and stored wrapped
 * in `data_keys`. Values of earlier generations stay readable.
 */
export function createVault(db: Drizzle, sealer: Sealer): Vault {
  const known = new LRUCache<string, DataKey>({ max: maxKnownKeys })

  const newestOf = async (workspaceId: string): Promise<WrappedDataKey | undefined> => {
    const [row] = await db
      .select({ generation: dataKeys.generation, wrapped: dataKeys.wrapped })
      .from(dataKeys)
      .where(eq(dataKeys.workspaceId, workspaceId))
      .orderBy(desc(dataKeys.generation))
      .limit(1)
    // The id is derived from the query, not trusted from the row.
    return row && { id: dataKeyId(workspaceId, row.generation), ...row }
  }

  // Read every time, so that every replica uses a new generation immediately.
  const sealingKey = async (workspaceId: string): Promise<WrappedDataKey> => {
    const newest = await newestOf(workspaceId)
    if (newest) return newest
    await db
      .insert(dataKeys)
      .values(newDataKeyRow(sealer, workspaceId, 1))
      .onConflictDoNothing()
    const made = await newestOf(workspaceId)
    if (!made) throw new Error('the data key that was just written cannot be read')
    return made
  }

  const openingKey = async (workspaceId: string, generation: number): Promise<DataKey> => {
    const id = dataKeyId(workspaceId, generation)
    const kept = known.get(id)
    if (kept !== undefined) return kept
    const [row] = await db
      .select({ wrapped: dataKeys.wrapped })
      .from(dataKeys)
      .where(and(eq(dataKeys.workspaceId, workspaceId), eq(dataKeys.generation, generation)))
    if (!row) throw new Error(`there is no data key ${id}`)
    const key = { id, wrapped: row.wrapped }
    // A key that cannot be unwrapped here may be rewrapped meanwhile, so it is not cached and is read again next time.
    if (sealer.unwraps(key)) known.set(id, key)
    return key
  }

  return {
    seal: async (workspaceId, plaintext, aad) =>
      sealer.seal(await sealingKey(workspaceId), plaintext, `${workspaceId}|${aad}`),
    open: async (workspaceId, sealed, aad) =>
      sealer.open(await openingKey(workspaceId, parseKeyGeneration(sealed)), sealed, `${workspaceId}|${aad}`),
  }
}

const dataKeyId = (workspaceId: string, generation: number) => `${workspaceId}:${generation}`

/** A new data key, which can be unwrapped only as the key of this workspace and generation. */
export function newDataKeyRow(sealer: Sealer, workspaceId: string, generation: number) {
  const id = dataKeyId(workspaceId, generation)
  return { id, workspaceId, generation, wrapped: sealer.newDataKey(id) }
}
