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
    .meta({ description: 'As long as planned, or an hour where nothing is planned, unless given.' }),
  within: z.coerce
    .number()
    .int()
    .min(1)
    .max(92)
    .default(14)
    .meta({ description: 'Days from now in which to look.' }),
})

/** Routes for conflicts of changes and for free slots. */
export function planningRoutes({ database: { sql } }: ServiceContext, changes: ChangeStore): Route[] {
  return [
    defineRoute({
      operationId: 'getConflictsOfChange',
      method: 'get',
      path: '/itsm/changes/:id/conflicts',
      summary: 'What a change collides with',
      description:
        'As things are now, for its planned time: other changes of the same items, or of items up to five relations ' +
        'with impact away; blackouts; maintenance windows it is not within; other changes of its assignee. Other ' +
        'changes count once they are submitted and until they are carried out.',
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
      summary: 'When a change would collide with nothing',
      description: 'The next five times, on quarters of an hour, at which the change would have no conflict.',
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
      summary: 'Changes and windows of a span of time',
      description: 'Without drafts and canceled changes; of windows the active ones, each time they are on.',
      tag,
      scope: 'itsm:read',
      query: ChangeCalendarQuery,
      response: ChangeCalendar,
      handler: ({ query, meta }) => readChangeCalendar(sql, meta.tenant, calendarSpan(query, meta.now)),
    }),
  ]
}
