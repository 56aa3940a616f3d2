import type { CatalogItem, CatalogItemState } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { catalogItem } from './item-domain.js'
import { allowedItemActions } from './item-transitions.js'

/** The items as the API shows them: with their version and what can be done to them now. */
export function itemStore({ store }: BackendContext) {
  return store.aggregate(catalogItem, { present })
}
export type ItemStore = ReturnType<typeof itemStore>

function present(state: CatalogItemState, version: number): CatalogItem {
  return { ...state, version, allowedActions: allowedItemActions(state.status) }
}
