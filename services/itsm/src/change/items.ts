import { ApiError, type ErrorDetail, type TenantScope } from '@opsplane/contracts'
import type { RequiresUnchanged } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { configurationItem } from '../cmdb/item/item-domain.js'
import type { RiskFacts } from './policy/risk.js'
import { countPastOutcomes, findTouchedItems, type TouchedItem } from './queries.js'

export interface TouchedItemIds {
  /** Id of the change. */
  id: string
  ciIds: readonly string[]
  /** Items the change already touches. They are accepted even if they were retired since. */
  before?: readonly string[]
}

export interface TouchedItems {
  /** Facts for the risk assessment. */
  facts: RiskFacts
  /** Classes of the items that exist. */
  classes: ReadonlyMap<string, string>
}

/**
 * Reads facts and classes of the items. Throws validation_failed naming /ciIds/i for each item that does not exist or
 * is retired. Ensures that the status of newly touched items does not change before the unit is committed.
 */
export async function readTouchedItems(
  db: Drizzle,
  tenant: TenantScope,
  { id, ciIds, before = [] }: TouchedItemIds,
  unit: RequiresUnchanged,
): Promise<TouchedItems> {
  const items = await findTouchedItems(db, tenant, ciIds)
  checkItems(ciIds, items, before)
  for (const { id, status } of items)
    if (!before.includes(id)) unit.requireUnchanged(configurationItem, id, { status })
  return {
    facts: {
      criticalities: items.map(({ criticality }) => criticality),
      past: await countPastOutcomes(db, tenant, ciIds, id),
    },
    classes: new Map(items.map((item) => [item.id, item.class])),
  }
}

function checkItems(ciIds: readonly string[], items: readonly TouchedItem[], before: readonly string[]) {
  const known = new Map(items.map((item) => [item.id, item.status]))
  const details = ciIds.flatMap((id, index): ErrorDetail[] => {
    const status = known.get(id)
    if (before.includes(id) || (status !== undefined && status !== 'retired')) return []
    const place = { in: 'body', path: `/ciIds/${index}` } as const
    return status === 'retired'
      ? [{ ...place, code: 'retired', message: 'The configuration item is retired.' }]
      : [{ ...place, code: 'unknown_item', message: 'There is no such configuration item here.' }]
  })
  if (details.length > 0)
    throw new ApiError('validation_failed', 'A change touches items that are in service.', { details })
}
