import { type CatalogItemAction, type CatalogItemStatus, catalogItemActions } from '@opsplane/contracts'
import { statusRules, type TransitionTable } from '../transition-rules.js'

/** All transitions of a catalogue item. Only a draft can be deleted, because no request can refer to it. */
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
