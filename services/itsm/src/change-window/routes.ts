import {
  AsOfListQuery,
  AsOfQuery,
  ChangeWindow,
  ChangeWindowPatch,
  NewChangeWindow,
  newId,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { changeWindows as table } from '../schema/change-window.js'
import { windowFilters } from './list-filters.js'
import { windowSelection } from './queries.js'
import type { WindowStore } from './window-store.js'

export const tag = 'Change windows'

const route = defineResource({
  name: 'ChangeWindow',
  path: '/itsm/change-windows',
  tag,
  read: 'itsm:read',
  write: 'itsm:manage',
  response: ChangeWindow,
})

/** Routes of blackouts and maintenance windows. */
export function windowRoutes(ctx: ServiceContext, windows: WindowStore): Route[] {
  return [
    route.list({
      summary: 'List blackout and maintenance windows',
      description:
        'All given filters must hold. Newest first unless `sort` says otherwise. The change calendar has the single ' +
        `times of recurring windows. ${shortPages}`,
      query: windowFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      handler: pageReader(ctx, {
        table,
        present: windows.present,
        select: async ({ query, meta }) =>
          windowSelection(query, await windows.findFilterItem(query.ciId, meta.tenant, query.asOf)),
      }),
    }),

    route.create({
      summary: 'Set up a blackout or maintenance window',
      description:
        'Once (`span`) or every week (`recurrence`). Conflicts of pending changes are recomputed. ' +
        'At most 1,000 windows may be active. Emits `change_window.created`.',
      body: NewChangeWindow,
      errors: ['conflict'],
      handler: async ({ body, meta }) => {
        await windows.checkCovered(body, meta.tenant)
        if (body.status === 'active') await windows.checkWindowLimit(meta.tenant, meta.now)
        const id = newId('changeWindow')
        const command = { kind: 'create', id, by: meta.actor, input: body, now: meta.now } as const
        return windows.create(id, command, meta)
      },
    }),

    route.get({
      summary: 'Get a blackout or maintenance window',
      description: 'With what it covers and when it recurs. With `asOf` as it was then.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => windows.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Change a blackout or maintenance window',
      description:
        'A `span` replaces a recurrence, and the other way round. Conflicts of pending changes are recomputed. ' +
        'Emits `change_window.updated`, or nothing if nothing changes.',
      body: ChangeWindowPatch,
      errors: ['conflict'],
      handler: async ({ params, body, meta }) => {
        await windows.checkCovered(body, meta.tenant, params.id)
        if (body.status === 'active') await windows.checkWindowLimit(meta.tenant, meta.now)
        return windows.handle(params.id, { kind: 'patch', patch: body, now: meta.now }, meta)
      },
    }),

    route.delete({
      summary: 'Drop a blackout or maintenance window',
      description: 'Emits `change_window.deleted`; conflicts with it go away.',
      handler: ({ params, meta }) => windows.handle(params.id, { kind: 'delete' }, meta),
    }),
  ]
}
