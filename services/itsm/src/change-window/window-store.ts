import { ApiError, type Instant, invalidField, type TenantScope } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { configurationItem } from '../cmdb/item-domain.js'
import { changeWindow } from './domain.js'
import { type AskedItem, absentItems, countCurrent } from './queries.js'

/** Every conflict is looked for among all of them, so their number has a bound. */
export const mostWindows = 1_000

export function windowStore({ store, database: { db } }: BackendContext) {
  const items = store.aggregate(configurationItem)
  return {
    ...store.aggregate(changeWindow),
    /** The item with the class it had at the instant, or has. */
    async askedItem(
      id: string | undefined,
      tenant: TenantScope,
      instant: Instant | undefined,
    ): Promise<AskedItem | undefined> {
      if (id === undefined) return undefined
      return { id, class: (await items.find(id, tenant, instant))?.state.class ?? null }
    },
    /** Throws validation_failed naming the first item that is not there. */
    async checkItems(ciIds: string[] | null | undefined, tenant: TenantScope): Promise<void> {
      if (!ciIds) return
      const [absent] = await absentItems(db, tenant, ciIds)
      if (absent === undefined) return
      const path = `/ciIds/${ciIds.indexOf(absent)}`
      throw invalidField(
        path,
        'unknown_item',
        'There is no such configuration item in this workspace and environment.',
      )
    },
    async checkRoom(tenant: TenantScope, now: string): Promise<void> {
      if ((await countCurrent(db, tenant, now)) >= mostWindows)
        throw new ApiError('conflict', `There are ${mostWindows} active windows already; drop some.`)
    },
  }
}
export type WindowStore = ReturnType<typeof windowStore>
