import type {
  CatalogItem,
  CatalogItemPatch,
  CatalogItemState,
  CommandMeta,
  NewCatalogItem,
} from '@opsplane/contracts'
import { newId } from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import type { NamedPeople, People } from '../people.js'
import { catalogItem } from './item-domain.js'
import { allowedItemActions } from './item-transitions.js'

/** Catalogue items in their API representation: with their version and the actions allowed now. */
export function itemStore({ store }: ServiceContext, people: People) {
  const aggregate = store.aggregate(catalogItem, { present })
  return {
    ...aggregate,

    /** Throws validation_failed naming the tasks whose assignees are not members. */
    async draft(input: NewCatalogItem, meta: CommandMeta): Promise<CatalogItem> {
      await people.check(meta.tenant, findAssignees(input))
      const id = newId('catalogItem')
      return aggregate.create(id, { kind: 'create', id, by: meta.actor, now: meta.now, input }, meta)
    },

    /** Throws validation_failed for assignees that the item did not name before and who are not members. */
    async edit(id: string, patch: CatalogItemPatch, meta: CommandMeta): Promise<CatalogItem> {
      const assigneesByField = findAssignees(patch)
      if (Object.keys(assigneesByField).length > 0) {
        const before = Object.values(findAssignees((await aggregate.find(id, meta.tenant))?.state ?? {}))
        const known = before.flatMap((people) => people ?? [])
        const unmoved = Object.fromEntries(Object.keys(assigneesByField).map((place) => [place, known]))
        await people.check(meta.tenant, assigneesByField, unmoved)
      }
      return aggregate.handle(id, { kind: 'edit', now: meta.now, patch }, meta)
    },
  }
}
export type ItemStore = ReturnType<typeof itemStore>

/** The assignees, keyed by the path of their task in the item. */
const findAssignees = ({ tasks = [] }: Pick<CatalogItemPatch, 'tasks'>): NamedPeople =>
  Object.fromEntries(tasks.map(({ assigneeId }, index) => [`tasks/${index}/assigneeId`, assigneeId] as const))

function present(state: CatalogItemState, version: number): CatalogItem {
  return { ...state, version, allowedActions: allowedItemActions(state.status) }
}
