import { ChangeCalendar, ChangeCalendarQuery, ChangeConflicts, ChangeSlots } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { calendarSpan, readChangeCalendar } from '../../change-window/calendar.js'
import { findConflicts } from '../../change-window/conflict-context.js'
import { findSlots } from '../../change-window/slot-search.js'
import type { ChangeStore } from '../change-store.js'
import { tag } from '../routes.js'

const slotsQuery = z.object({
  durationMinutes: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_080)
    .optional()
    .meta({
      description:
        'Duration of the slot in minutes. Default: the planned duration of the change, or one hour if none is ' +
        'planned.',
    }),
  within: z.coerce
    .number()
    .int()
    .min(1)
    .max(92)
    .default(14)
    .meta({ description: 'Number of days from now to search.' }),
})

/** Routes for conflicts of changes and for free slots. */
export function planningRoutes({ database: { sql } }: ServiceContext, changes: ChangeStore): Route[] {
  return [
    defineRoute({
      operationId: 'getConflictsOfChange',
      method: 'get',
      path: '/itsm/changes/:id/conflicts',
      summary: 'List the conflicts of a change',
      description:
        'Computes the current conflicts for the planned time of the change: other changes of the same items, or of ' +
        'items up to five relations with impact away; blackouts; maintenance windows that do not contain the planned ' +
        'time; other changes of the same assignee. Other changes count from their submission until they are carried ' +
        'out.',
      tag,
      scope: 'itsm:read',
      response: ChangeConflicts,
      handler: async ({ params, meta }) => {
        const change = await changes.get(await changes.findId(params.id, meta.tenant), meta.tenant)
        return { asOf: meta.now, conflicts: await findConflicts(sql, meta.tenant, change) }
      },
    }),

    defineRoute({
      operationId: 'getSlotsOfChange',
      method: 'get',
      path: '/itsm/changes/:id/slots',
      summary: 'Find conflict-free times for a change',
      description:
        'Returns the next five start times, aligned to quarter hours, at which the change would have no conflict.',
      tag,
      scope: 'itsm:read',
      query: slotsQuery,
      response: ChangeSlots,
      handler: async ({ params, query, meta }) => {
        const change = await changes.get(await changes.findId(params.id, meta.tenant), meta.tenant)
        return findSlots(sql, meta.tenant, change, { ...query, now: meta.now })
      },
    }),

    defineRoute({
      operationId: 'getChangeCalendar',
      method: 'get',
      path: '/itsm/change-calendar',
      summary: 'Get the change calendar',
      description:
        'Returns the changes in a time span, except drafts and canceled changes, and every occurrence of the active ' +
        'windows.',
      tag,
      scope: 'itsm:read',
      query: ChangeCalendarQuery,
      response: ChangeCalendar,
      handler: ({ query, meta }) => readChangeCalendar(sql, meta.tenant, calendarSpan(query, meta.now)),
    }),
  ]
}
