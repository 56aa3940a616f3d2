import { ApiError, type ErrorDetail, type TenantScope } from '@opsplane/contracts'
import type { RequiresUnchanged } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { configurationItem } from '../cmdb/item/item-domain.js'
import type { RiskFacts } from './policy/risk.js'
import { countPastOutcomes, findTouchedItems, type TouchedItem } from './queries.js'

export interface TouchedItemIds {
  /** Of the change itself. */
  id: string
  ciIds: readonly string[]
  /** Items the change touches already: they stay although they were retired since. */
  before?: readonly string[]
}

export interface TouchedItems {
  /** What the risk is judged by. */
  facts: RiskFacts
  /** Of the items there are. */
  classes: ReadonlyMap<string, string>
}

/**
 * What is known of the items. Throws validation_failed naming /ciIds/i where one is not there or is retired; the others
 * stay in service until the unit is committed.
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
