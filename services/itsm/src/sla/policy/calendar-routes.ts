import {
  AsOfListQuery,
  AsOfQuery,
  ImportHolidays,
  NewSlaCalendar,
  newId,
  SlaCalendar,
  SlaCalendarPatch,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { parseHolidays } from '../../calendar/ical.js'
import { slaCalendars as table } from '../../schema/sla.js'
import { calendarFilters } from '../list-filters.js'
import { calendarSelection } from '../queries.js'
import type { SlaStores } from '../timer/stores.js'
import type { SlaPolicyWriter } from './policy-writer.js'

const tag = 'SLA calendars'

const route = defineResource({
  name: 'SlaCalendar',
  path: '/itsm/calendars',
  tag,
  read: 'itsm:read',
  write: 'sla:write',
  response: SlaCalendar,
})

/** Routes of the calendars, which define when SLA timers count. */
export function calendarRoutes(
  ctx: ServiceContext,
  { calendars }: SlaStores,
  saving: SlaPolicyWriter,
): Route[] {
  return [
    route.list({
      summary: 'List SLA calendars',
      description:
        'Returns calendars that match all given filters. Newest first unless `sort` specifies otherwise. ' +
        `${shortPages}`,
      query: calendarFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      handler: pageReader(ctx, {
        table,
        present: calendars.present,
        select: ({ query }) => calendarSelection(query),
      }),
    }),

    route.create({
      summary: 'Create an SLA calendar',
      description: 'Refused if hours overlap, the time zone is unknown or the calendar is never open.',
      body: NewSlaCalendar,
      handler: ({ body, meta }) => {
        const id = newId('slaCalendar')
        return calendars.create(id, { kind: 'create', id, input: body, now: meta.now }, meta)
      },
    }),

    route.get({
      summary: 'Get an SLA calendar',
      description:
        'Includes the weekly hours, holidays and exceptions in the time zone of the calendar. With `asOf`, returns ' +
        'the state at that instant.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => calendars.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update an SLA calendar',
      description:
        'Creates a revision for timers that start from now on; existing timers keep their revision. Refused if a ' +
        'goal of an active policy would exceed a year of the calendar.',
      body: SlaCalendarPatch,
      handler: ({ params, body: patch, meta }) => {
        const { now } = meta
        return saving.changeCalendar(params.id, (policies) => ({ kind: 'patch', patch, policies, now }), meta)
      },
    }),

    defineRoute({
      operationId: 'importSlaHolidays',
      method: 'post',
      path: '/itsm/calendars/:id/import-holidays',
      summary: 'Import holidays from iCalendar',
      description:
        'Adds the holidays to those of the SLA calendar, each date once, or replaces the existing ones. Creates a ' +
        'revision like an update; an import without changes creates none.',
      tag,
      scope: 'sla:write',
      body: ImportHolidays,
      response: SlaCalendar,
      handler: ({ params, body: { ical, replace }, meta }) => {
        const holidays = parseHolidays(ical)
        return saving.changeCalendar(
          params.id,
          (policies) => ({ kind: 'import', holidays, replace, policies, now: meta.now }),
          meta,
        )
      },
    }),

    route.delete({
      summary: 'Delete an SLA calendar',
      description: 'Refused while a policy references the calendar.',
      errors: ['conflict'],
      handler: ({ params, meta }) => saving.deleteCalendar(params.id, meta),
    }),
  ]
}
