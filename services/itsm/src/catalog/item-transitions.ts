import { type CatalogItemAction, type CatalogItemStatus, catalogItemActions } from '@opsplane/contracts'
import { statusRules, type TransitionTable } from '../transition-rules.js'

/** The whole life of an item of the catalogue. Only a draft, which cannot have been requested, can be deleted. */
export const itemTransitions: TransitionTable<CatalogItemAction, CatalogItemStatus> = {
  edit: { draft: ['draft'], active: ['active'] },
  activate: { draft: ['active'] },
  retire: { active: ['retired'] },
  delete: { draft: ['draft'] },
}

export const { allowedActions: allowedItemActions, statusAfter: itemStatusAfter } = statusRules(
  catalogItemActions,
  itemTransitions,
)
