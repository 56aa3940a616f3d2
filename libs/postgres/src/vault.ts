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
  /** Sealed text, openable only for the same workspace and aad. */
  seal(workspaceId: string, plaintext: string, aad: string): Promise<string>
  open(workspaceId: string, sealed: string, aad: string): Promise<string>
}

const maxKnownKeys = 10_000

/**
 * Seals values with the newest data key of the workspace, the first one made at its first use and kept wrapped in
 * `data_keys`. Values of earlier generations stay readable.
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
    // Named by where it is asked for, not by what the row says.
    return row && { id: dataKeyId(workspaceId, row.generation), ...row }
  }

  // Read every time, so that a new generation is used at once by every replica.
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
    // A key that cannot be unwrapped here may be rewrapped meanwhile, so it is read again next time.
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

/** A fresh data key, which opens as this workspace's and this generation's only. */
export function newDataKeyRow(sealer: Sealer, workspaceId: string, generation: number) {
  const id = dataKeyId(workspaceId, generation)
  return { id, workspaceId, generation, wrapped: sealer.newDataKey(id) }
}
