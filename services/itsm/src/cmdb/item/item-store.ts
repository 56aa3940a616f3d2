import {
  ApiError,
  type CommandMeta,
  type ConfigurationItem,
  type ConfigurationItemPatch,
  type ConfigurationItemState,
  type NewConfigurationItem,
  newId,
  notFound,
} from '@opsplane/contracts'
import { foreignKeyViolation } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { ClassStore } from '../class/class-store.js'
import { countRelations, itemIdByKey } from '../queries.js'
import { allowedActions } from '../transitions.js'
import { configurationItem, itemHasRelations } from './item-domain.js'

/** Configuration items in their API representation, and the commands that need more data than the item itself. */
export function itemStore({ store, database }: ServiceContext, classes: ClassStore) {
  const aggregate = store.aggregate(configurationItem, { present })

  return {
    ...aggregate,
    async record(input: NewConfigurationItem, meta: CommandMeta): Promise<ConfigurationItem> {
      const id = newId('ci')
      const schema = await classes.findSchema(input.class, meta.tenant)
      try {
        const command = { kind: 'create', id, by: meta.actor, now: meta.now, input, schema } as const
        return await aggregate.create(id, command, meta)
      } catch (error) {
        const { source, nativeKey } = input
        if (!isDuplicateSourceKey(error) || source === undefined || nativeKey === undefined) throw error
        throw duplicateSourceKey(await itemIdByKey(database.db, meta.tenant, source, nativeKey), error)
      }
    },
    change: (id: string, patch: ConfigurationItemPatch, meta: CommandMeta): Promise<ConfigurationItem> =>
      store.transact(
        meta,
        async (unit) => {
          const checked = patch.class !== undefined || patch.attributes !== undefined
          const current = checked ? await unit.find(aggregate, id) : null
          if (checked && current === null) throw notFound()
          const className = patch.class ?? current?.state.class
          const schema = className === undefined ? null : await classes.findSchema(className, meta.tenant)
          return unit.handle(aggregate, id, { kind: 'patch', patch, now: meta.now, schema })
        },
        { queueKey: id },
      ),
    async drop(id: string, meta: CommandMeta): Promise<void> {
      const relations = await countRelations(database.db, meta.tenant, id)
      try {
        await aggregate.handle(id, { kind: 'delete', relations }, meta)
      } catch (error) {
        // A relation was added after the relations were counted.
        throw foreignKeyViolation(error) === undefined ? error : itemHasRelations()
      }
    },
  }
}
export type ItemStore = ReturnType<typeof itemStore>

function present(state: ConfigurationItemState, version: number): ConfigurationItem {
  return { ...state, version, allowedActions: allowedActions(state.status) }
}

function isDuplicateSourceKey(error: unknown): boolean {
  return (
    error instanceof ApiError && error.details[0]?.params?.constraint === 'configuration_items_source_key'
  )
}

function duplicateSourceKey(itemId: string | undefined, cause: unknown): ApiError {
  return new ApiError('conflict', 'There already is an item with this key of this source.', {
    details: [
      {
        in: 'body',
        path: '/nativeKey',
        code: 'not_unique',
        message: 'must be unique within the source',
        ...(itemId !== undefined && { params: { itemId } }),
      },
    ],
    cause,
  })
}
