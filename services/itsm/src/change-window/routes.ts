import {
  AsOfListQuery,
  AsOfQuery,
  ChangeWindow,
  ChangeWindowPatch,
  NewChangeWindow,
  newId,
  shortPages,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { changeWindows as table } from '../schema/change-window.js'
import { windowFilters } from './list-filters.js'
import { sortColumns, windowSelection } from './queries.js'
import type { WindowStore } from './window-store.js'

export const tag = 'Change windows'
const path = '/itsm/change-windows/:id'

/** When nothing may be changed, and when what has maintenance windows may be. */
export function windowRoutes(ctx: ServiceContext, windows: WindowStore): Route[] {
  return [
    defineList({
      operationId: 'listChangeWindows',
      path: '/itsm/change-windows',
      summary: 'List blackout and maintenance windows',
      description:
        'All given filters must hold. Newest first unless `sort` says otherwise. The change calendar has the single ' +
        `times of recurring windows. ${shortPages}`,
      tag,
      scope: 'itsm:read',
      query: windowFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      response: ChangeWindow,
      handler: async ({ query: { limit, after, sort, asOf, ...filters }, binding, meta }) =>
        listPage(ctx.database.db, {
          asOf,
          table,
          tenant: meta.tenant,
          ...windowSelection(filters, await windows.findFilterItem(filters.ciId, meta.tenant, asOf)),
          sort: { column: sortColumns[sort.field], direction: sort.direction },
          ...{ limit, after, binding, cursors: ctx.cursors, present: windows.present },
        }),
    }),

    defineRoute({
      operationId: 'createChangeWindow',
      method: 'post',
      path: '/itsm/change-windows',
      summary: 'Set up a blackout or maintenance window',
      description:
        'Once (`span`) or every week (`recurrence`). Conflicts of pending changes are recomputed. ' +
        'At most 1,000 windows may be active. Emits `change_window.created`.',
      tag,
      scope: 'itsm:manage',
      body: NewChangeWindow,
      response: ChangeWindow,
      status: 201,
      errors: ['conflict'],
      handler: async ({ body, meta }) => {
        await windows.checkCovered(body, meta.tenant)
        if (body.status === 'active') await windows.checkWindowLimit(meta.tenant, meta.now)
        const id = newId('changeWindow')
        const command = { kind: 'create', id, by: meta.actor, input: body, now: meta.now } as const
        return windows.create(id, command, meta)
      },
    }),

    defineRoute({
      operationId: 'getChangeWindow',
      method: 'get',
      path,
      summary: 'Get a blackout or maintenance window',
      description: 'With what it covers and when it recurs. With `asOf` as it was then.',
      tag,
      scope: 'itsm:read',
      query: AsOfQuery,
      response: ChangeWindow,
      errors: ['not_found'],
      handler: ({ params, query, meta }) => windows.asOf(params.id, meta.tenant, query.asOf),
    }),

    defineRoute({
      operationId: 'updateChangeWindow',
      method: 'patch',
      path,
      summary: 'Change a blackout or maintenance window',
      description:
        'A `span` replaces a recurrence, and the other way round. Conflicts of pending changes are recomputed. ' +
        'Emits `change_window.updated`, or nothing if nothing changes.',
      tag,
      scope: 'itsm:manage',
      body: ChangeWindowPatch,
      response: ChangeWindow,
      errors: ['not_found', 'conflict', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, body, meta }) => {
        await windows.checkCovered(body, meta.tenant, params.id)
        if (body.status === 'active') await windows.checkWindowLimit(meta.tenant, meta.now)
        return windows.handle(params.id, { kind: 'patch', patch: body, now: meta.now }, meta)
      },
    }),

    defineRoute({
      operationId: 'deleteChangeWindow',
      method: 'delete',
      path,
      summary: 'Drop a blackout or maintenance window',
      description: 'Emits `change_window.deleted`; conflicts with it go away.',
      tag,
      scope: 'itsm:manage',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed'],
      handler: async ({ params, meta }) => {
        await windows.handle(params.id, { kind: 'delete' }, meta)
      },
    }),
  ]
}
