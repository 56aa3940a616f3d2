import { ApiError, type ErrorDetail, type Instant, notFound, type TenantScope } from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import { configurationItem } from '../cmdb/item/item-domain.js'
import { changeWindow } from './domain.js'
import { absentClasses, absentItems, countCurrent, type FilterItem } from './queries.js'

/** Every conflict check considers all active windows, so their number is limited. */
export const maxWindows = 1_000

interface Covering {
  ciIds?: string[] | null | undefined
  classes?: string[] | null | undefined
}

export function windowStore({ store, database: { db } }: ServiceContext) {
  const items = store.aggregate(configurationItem)
  const aggregate = store.aggregate(changeWindow)
  return {
    ...aggregate,
    /** Returns the item with its class, currently or at `instant`. */
    async findFilterItem(
      id: string | undefined,
      tenant: TenantScope,
      instant: Instant | undefined,
    ): Promise<FilterItem | undefined> {
      if (id === undefined) return undefined
      return { id, class: (await items.find(id, tenant, instant))?.state.class ?? null }
    },
    /**
     * Throws validation_failed naming each unknown item and class. A window that is being changed may keep the ones it
     * already names, because an item may have been deleted in the meantime.
     */
    async checkCovered(covering: Covering, tenant: TenantScope, changed?: string): Promise<void> {
      const { ciIds, classes } = covering
      if (!ciIds && !classes) return
      const before = changed === undefined ? undefined : await aggregate.find(changed, tenant)
      if (before === null) throw notFound()
      const absent = {
        ciIds: await absentItems(db, tenant, without(ciIds, before?.state.ciIds)),
        classes: await absentClasses(db, tenant, without(classes, before?.state.classes)),
      }
      const details = [
        ...absent.ciIds.map((id) => unknown('ciIds', ciIds?.indexOf(id))),
        ...absent.classes.map((name) => unknown('classes', classes?.indexOf(name))),
      ]
      if (details.length > 0)
        throw new ApiError('validation_failed', 'A window covers items and classes that are there.', {
          details,
        })
    },
    async checkWindowLimit(tenant: TenantScope, now: string): Promise<void> {
      if ((await countCurrent(db, tenant, now)) >= maxWindows)
        throw new ApiError('conflict', `There are ${maxWindows} active windows already; drop some.`)
    },
  }
}
export type WindowStore = ReturnType<typeof windowStore>

const without = (names: string[] | null | undefined, kept: string[] | null | undefined): string[] =>
  (names ?? []).filter((name) => !kept?.includes(name))

function unknown(field: 'ciIds' | 'classes', place: number | undefined): ErrorDetail {
  const [code, what] = field === 'ciIds' ? ['unknown_item', 'configuration item'] : ['unknown_class', 'class']
  const message = `There is no such ${what} in this workspace and environment.`
  return { in: 'body', path: `/${field}/${place}`, code, message }
}
