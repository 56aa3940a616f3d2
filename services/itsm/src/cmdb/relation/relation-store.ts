import {
  ApiError,
  type CiRelation,
  type CommandMeta,
  invalidField,
  type NewCiRelation,
  newId,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import { foreignKeyViolation } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { configurationItem } from '../item/item-domain.js'
import type { ItemStore } from '../item/item-store.js'
import { transitions } from '../transitions.js'
import { ciRelation } from './relation-domain.js'

/** Commands that add and remove relations. */
export function relationStore({ store }: ServiceContext, items: ItemStore) {
  const aggregate = store.aggregate(ciRelation, { present: (state) => state })

  async function checkEnd(unit: Unit, field: 'sourceId' | 'targetId', id: string): Promise<void> {
    const item = await unit.find(items, id)
    if (item === null) throw noSuchItem(`/${field}`)
    if (transitions.relate[item.state.status] === undefined)
      throw invalidField(`/${field}`, 'retired', 'A retired item gets no new relations.')
    unit.requireUnchanged(configurationItem, id, { status: item.state.status })
  }

  return {
    ...aggregate,
    async add(input: NewCiRelation, meta: CommandMeta): Promise<CiRelation> {
      const id = newId('relation')
      try {
        return await store.transact(meta, async (unit) => {
          await checkEnd(unit, 'sourceId', input.sourceId)
          await checkEnd(unit, 'targetId', input.targetId)
          return unit.create(aggregate, id, { kind: 'add', id, by: meta.actor, now: meta.now, input })
        })
      } catch (error) {
        // The item was deleted after it was checked.
        const key = foreignKeyViolation(error)
        if (key !== undefined)
          throw noSuchItem(key === 'ci_relations_source_fkey' ? '/sourceId' : '/targetId')
        throw isDuplicate(error) ? alreadyRelated(error) : error
      }
    },
  }
}
export type RelationStore = ReturnType<typeof relationStore>

/** An item of another tenant gets the same answer as an item that does not exist. */
export const noSuchItem = (path: string) =>
  invalidField(path, 'unknown_item', 'There is no such item in this workspace and environment.')

function isDuplicate(error: unknown): boolean {
  return error instanceof ApiError && error.details[0]?.params?.constraint === 'ci_relations_key'
}

const alreadyRelated = (cause: unknown) =>
  new ApiError('conflict', 'The items have a relation of this type already.', {
    details: [{ in: 'body', path: '', code: 'not_unique', message: 'must be a new relation' }],
    cause,
  })
