import {
  type CatalogItemAction,
  type CatalogItemStatus,
  catalogItemActions,
  invalidTransition,
} from '@opsplane/contracts'

type Targets = readonly [CatalogItemStatus, ...CatalogItemStatus[]]

/** The whole life of an item of the catalogue. Only a draft, which cannot have been requested, can be deleted. */
export const itemTransitions: Record<CatalogItemAction, Partial<Record<CatalogItemStatus, Targets>>> = {
  edit: { draft: ['draft'], active: ['active'] },
  activate: { draft: ['active'] },
  retire: { active: ['retired'] },
  delete: { draft: ['draft'] },
}

export function allowedItemActions(status: CatalogItemStatus): CatalogItemAction[] {
  return catalogItemActions.filter((action) => itemTransitions[action][status] !== undefined)
}

/** The status `action` leads to. Throws invalid_state_transition where the table has none. */
export function itemStatusAfter(action: CatalogItemAction, from: CatalogItemStatus): CatalogItemStatus {
  const targets = itemTransitions[action][from]
  if (targets === undefined) throw invalidTransition(action, from, allowedItemActions(from))
  return targets[0]
}
