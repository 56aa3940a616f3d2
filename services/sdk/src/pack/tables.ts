import { readModelTable, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { index, uniqueIndex } from 'drizzle-orm/pg-core'

export const packs = readModelTable(
  'packs',
  {
    name: stateText('name', 'name'),
    status: stateText('status', 'status'),
    ownerId: stateText('owner_id', 'ownerId'),
    updatedAt: stateText('updated_at', 'updatedAt'),
  },
  (table) => [
    index('packs_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
    uniqueIndex('packs_name_key').on(table.workspaceId, table.environment, table.name),
    index('packs_owner_idx').on(table.workspaceId, table.ownerId).where(sql`status = 'active'`),
  ],
)

/**
 * All installations: manifest, files, and the grant their artifacts use. Too large for events, so stored
 * next to them.
 */
export const packInstallations = readModelTable(
  'pack_installations',
  { packId: stateText('pack_id', 'packId'), packVersion: stateText('pack_version', 'packVersion') },
  (table) => [index('pack_installations_pack_idx').on(table.packId, table.packVersion)],
)
