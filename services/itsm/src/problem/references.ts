import { invalidField, type TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray } from 'drizzle-orm'
import { changes, configurationItems } from '../schema.js'

/** What a new problem, or a changed one, points at. */
interface Pointing {
  ciIds?: string[] | undefined
  changeIds?: string[] | undefined
}

/**
 * Holds the items and changes a problem names against those there are. What it named `before` it may keep: an item
 * can be retired in the meantime. Throws validation_failed naming the first wrong one by its place.
 */
export async function checkReferences(
  db: Drizzle,
  tenant: TenantScope,
  wanted: Pointing,
  before: Pointing = {},
): Promise<void> {
  await checkItems(db, tenant, wanted.ciIds ?? [], new Set(before.ciIds))
  await checkChanges(db, tenant, wanted.changeIds ?? [], new Set(before.changeIds))
}

async function checkItems(db: Drizzle, tenant: TenantScope, ids: string[], kept: ReadonlySet<string>) {
  const statuses = await itemStatuses(db, tenant, ids)
  for (const [place, id] of ids.entries()) {
    if (kept.has(id)) continue
    const status = statuses.get(id)
    if (status === 'retired')
      throw invalidField(`/ciIds/${place}`, 'retired', 'The configuration item is retired.')
    if (status === undefined)
      throw invalidField(
        `/ciIds/${place}`,
        'unknown_item',
        'There is no such configuration item in this workspace and environment.',
      )
  }
}

async function checkChanges(db: Drizzle, tenant: TenantScope, ids: string[], kept: ReadonlySet<string>) {
  const known = await knownChanges(db, tenant, ids)
  const place = ids.findIndex((id) => !kept.has(id) && !known.has(id))
  if (place >= 0)
    throw invalidField(
      `/changeIds/${place}`,
      'unknown_change',
      'There is no such change in this workspace and environment.',
    )
}

/** Of these ids, those of items that are not retired. */
export async function usableItems(db: Drizzle, tenant: TenantScope, ids: string[]): Promise<string[]> {
  const statuses = await itemStatuses(db, tenant, ids)
  return ids.filter((id) => statuses.has(id) && statuses.get(id) !== 'retired')
}

async function itemStatuses(db: Drizzle, tenant: TenantScope, ids: string[]) {
  if (ids.length === 0) return new Map<string, string | null>()
  const table = configurationItems
  const rows = await db
    .select({ id: table.id, status: table.status })
    .from(table)
    .where(
      and(
        eq(table.workspaceId, tenant.workspaceId),
        eq(table.environment, tenant.environment),
        inArray(table.id, ids),
      ),
    )
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** Of these ids, those of changes. */
async function knownChanges(db: Drizzle, tenant: TenantScope, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .select({ id: changes.id })
    .from(changes)
    .where(
      and(
        eq(changes.workspaceId, tenant.workspaceId),
        eq(changes.environment, tenant.environment),
        inArray(changes.id, ids),
      ),
    )
  return new Set(rows.map(({ id }) => id))
}
