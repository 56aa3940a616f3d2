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
      description: `All given filters must hold. Newest first unless \`sort\` says otherwise. ${shortPages}`,
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
      description: 'Refused when hours overlap, the zone is unknown or nothing is ever open.',
      body: NewSlaCalendar,
      handler: ({ body, meta }) => {
        const id = newId('slaCalendar')
        return calendars.create(id, { kind: 'create', id, input: body, now: meta.now }, meta)
      },
    }),

    route.get({
      summary: 'Get an SLA calendar',
      description: 'With its week, holidays and exceptions in its time zone. With `asOf` as it was then.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => calendars.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update an SLA calendar',
      description:
        'Makes a new revision for timers that start from now on; those that began keep theirs. Refused when an ' +
        'active policy would have a goal beyond a year of it.',
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
      summary: 'Import holidays from iCalendar into an SLA calendar',
      description:
        'Adds them to the existing holidays, each date once, or replaces those. Makes a new revision like an update; what ' +
        'changes nothing makes none.',
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
      description: 'Refused while a policy names it.',
      errors: ['conflict'],
      handler: ({ params, meta }) => saving.deleteCalendar(params.id, meta),
    }),
  ]
}
