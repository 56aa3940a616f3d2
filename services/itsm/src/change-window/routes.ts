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
        'Returns windows that match all given filters. Newest first unless `sort` specifies otherwise. The change ' +
        `calendar lists the individual occurrences of recurring windows. ${shortPages}`,
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
      summary: 'Create a blackout or maintenance window',
      description:
        'The window occurs once (`span`) or every week (`recurrence`). Recomputes the conflicts of pending changes. ' +
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
      description:
        'Includes the coverage and the recurrence of the window. With `asOf`, returns the state at that instant.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => windows.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update a blackout or maintenance window',
      description:
        'A `span` replaces a recurrence, and vice versa. Recomputes the conflicts of pending changes. Emits ' +
        '`change_window.updated`; an update without changes emits no event.',
      body: ChangeWindowPatch,
      errors: ['conflict'],
      handler: async ({ params, body, meta }) => {
        await windows.checkCovered(body, meta.tenant, params.id)
        if (body.status === 'active') await windows.checkWindowLimit(meta.tenant, meta.now)
        return windows.handle(params.id, { kind: 'patch', patch: body, now: meta.now }, meta)
      },
    }),

    route.delete({
      summary: 'Delete a blackout or maintenance window',
      description: 'Emits `change_window.deleted`; removes the conflicts with this window.',
      handler: ({ params, meta }) => windows.handle(params.id, { kind: 'delete' }, meta),
    }),
  ]
}
