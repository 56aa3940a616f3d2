import type { Sealer } from '@opsplane/runtime'
import { desc, eq } from 'drizzle-orm'
import { integer, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'
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

/** Seals values with the workspace's own data key, made at its first use and kept wrapped in `data_keys`. */
export function createVault(db: Drizzle, sealer: Sealer): Vault {
  const wrappedKeys = new Map<string, string>()

  const currentKey = async (workspaceId: string): Promise<string> => {
    const known = wrappedKeys.get(workspaceId)
    if (known !== undefined) return known
    const read = () =>
      db
        .select({ wrapped: dataKeys.wrapped })
        .from(dataKeys)
        .where(eq(dataKeys.workspaceId, workspaceId))
        .orderBy(desc(dataKeys.generation))
        .limit(1)
    let [row] = await read()
    if (!row) {
      const fresh = { id: `${workspaceId}:1`, workspaceId, generation: 1, wrapped: sealer.newDataKey() }
      await db.insert(dataKeys).values(fresh).onConflictDoNothing()
      ;[row] = await read()
    }
    if (!row) throw new Error('the data key that was just written cannot be read')
    wrappedKeys.set(workspaceId, row.wrapped)
    return row.wrapped
  }

  return {
    seal: async (workspaceId, plaintext, aad) =>
      sealer.seal(await currentKey(workspaceId), plaintext, `${workspaceId}|${aad}`),
    open: async (workspaceId, sealed, aad) =>
      sealer.open(await currentKey(workspaceId), sealed, `${workspaceId}|${aad}`),
  }
}
