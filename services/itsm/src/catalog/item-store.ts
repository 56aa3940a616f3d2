import type { CatalogItem, CatalogItemState } from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import { catalogItem } from './item-domain.js'
import { allowedItemActions } from './item-transitions.js'

/** The items as the API shows them: with their version and what can be done to them now. */
export function itemStore({ store }: ServiceContext) {
  return store.aggregate(catalogItem, { present })
}
export type ItemStore = ReturnType<typeof itemStore>

function present(state: CatalogItemState, version: number): CatalogItem {
  return { ...state, version, allowedActions: allowedItemActions(state.status) }
}
