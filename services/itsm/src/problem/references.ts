import { invalidField, type TenantScope } from '@opsplane/contracts'
import type { RequiresUnchanged } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray } from 'drizzle-orm'
import { configurationItem } from '../cmdb/item/item-domain.js'
import { changes } from '../schema/change.js'
import { configurationItems } from '../schema/cmdb.js'

/** The records that a new or changed problem refers to. */
interface References {
  ciIds?: string[] | undefined
  changeIds?: string[] | undefined
}

/**
 * Checks that the items and changes a problem names exist and that the items are not retired. References in `before`
 * may stay, because an item may be retired in the meantime. Ensures that the other items are still in service when the
 * unit is committed. Throws validation_failed naming the path of the first invalid reference.
 */
export async function checkReferences(
  db: Drizzle,
  tenant: TenantScope,
  references: References,
  unit: RequiresUnchanged,
  before: References = {},
): Promise<void> {
  const kept = new Set(before.ciIds)
  const newCiIds = (references.ciIds ?? []).filter((id) => !kept.has(id))
  checkItems(references.ciIds ?? [], kept, await itemStatuses(db, tenant, newCiIds, unit))
  await checkChanges(db, tenant, references.changeIds ?? [], new Set(before.changeIds))
}

function checkItems(ids: string[], kept: ReadonlySet<string>, statuses: Statuses): void {
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

/** Returns the ids of items that exist and are not retired, and ensures that this holds when the unit is committed. */
export async function usableItems(
  db: Drizzle,
  tenant: TenantScope,
  ids: string[],
  unit: RequiresUnchanged,
): Promise<string[]> {
  const statuses = await itemStatuses(db, tenant, ids, unit)
  return ids.filter((id) => statuses.has(id) && statuses.get(id) !== 'retired')
}

type Statuses = ReadonlyMap<string, string | null>

async function itemStatuses(
  db: Drizzle,
  tenant: TenantScope,
  ids: string[],
  unit: RequiresUnchanged,
): Promise<Statuses> {
  if (ids.length === 0) return new Map()
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
  for (const { id, status } of rows)
    if (status !== 'retired') unit.requireUnchanged(configurationItem, id, { status })
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** Returns the ids of changes that exist. */
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
