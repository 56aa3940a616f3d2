import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { CalendarDay } from '../core/moment.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(100)
const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:30')

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

export const SlaHours = z
  .strictObject({
    from: TimeOfDay.meta({ example: '09:00' }),
    to: z.union([TimeOfDay, z.literal('24:00')]).meta({ example: '17:30' }),
  })
  .meta({
    id: 'SlaHours',
    description:
      'Opening hours in the local time of the calendar: open from `from` (inclusive) until `to` (exclusive).',
  })
export type SlaHours = z.infer<typeof SlaHours>
const DayHours = z.array(SlaHours).max(24)

const calendarFields = {
  name: Name.meta({ example: 'Office hours' }),
  timeZone: z
    .string()
    .min(1)
    .max(60)
    .meta({ description: 'IANA name of the time zone.', example: 'Europe/Berlin' }),
  week: z
    .partialRecord(z.enum(weekdays), DayHours)
    .meta({ description: 'Opening hours by weekday; omitted days are closed.', example: { monday: [] } }),
  holidays: z
    .array(z.object({ date: CalendarDay, yearly: z.boolean(), name: z.string().max(100) }))
    .max(500)
    .meta({
      description:
        'Dates on which the calendar is closed. A yearly holiday recurs on the same month and day.',
    }),
  exceptions: z
    .array(z.object({ date: CalendarDay, hours: DayHours }))
    .max(500)
    .meta({ description: 'Dates with different opening hours. Exceptions take precedence over holidays.' }),
}

/** Business hours. Each timer is pinned to one revision of its calendar. */
export const SlaCalendarState = z.object({
  id: idSchema('slaCalendar'),
  ...calendarFields,
  revision: z.int().min(1),
  createdAt: At,
  updatedAt: At,
})
export type SlaCalendarState = z.infer<typeof SlaCalendarState>
export const SlaCalendar = SlaCalendarState.extend({ version: z.int().min(1) }).meta({
  id: 'SlaCalendar',
})
export type SlaCalendar = z.infer<typeof SlaCalendar>

const NewHoliday = z.strictObject({
  date: CalendarDay,
  yearly: z.boolean().default(false),
  name: z.string().trim().max(100).default(''),
})
const NewException = z.strictObject({ date: CalendarDay, hours: DayHours })
export const NewSlaCalendar = z
  .strictObject({
    name: Name,
    timeZone: calendarFields.timeZone,
    week: calendarFields.week,
    holidays: z.array(NewHoliday).max(500).default([]),
    exceptions: z.array(NewException).max(500).default([]),
  })
  .meta({
    id: 'NewSlaCalendar',
    example: {
      name: 'Office hours',
      timeZone: 'Europe/Berlin',
      week: { monday: [{ from: '09:00', to: '17:30' }], tuesday: [{ from: '09:00', to: '17:30' }] },
      holidays: [{ date: '2026-12-25', yearly: true, name: 'Christmas' }],
    },
  })
export type NewSlaCalendar = z.infer<typeof NewSlaCalendar>
export const SlaCalendarPatch = z
  .strictObject({
    name: Name,
    timeZone: calendarFields.timeZone,
    week: calendarFields.week,
    holidays: z.array(NewHoliday).max(500),
    exceptions: z.array(NewException).max(500),
  })
  .partial()
  .meta({ id: 'SlaCalendarPatch', example: { timeZone: 'Europe/Paris' } })
export type SlaCalendarPatch = z.infer<typeof SlaCalendarPatch>

export const ImportHolidays = z
  .strictObject({
    ical: z
      .string()
      .min(1)
      .max(500_000)
      .meta({
        description:
          'Calendar in iCalendar format with all-day events that occur once or every year on the same date. A calendar ' +
          'with any other event is refused; the error names the event.',
      }),
    replace: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether the imported holidays replace the existing holidays.' }),
  })
  .meta({
    id: 'ImportHolidays',
    example: {
      ical: 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20261225\r\nSUMMARY:Christmas\r\nEND:VEVENT\r\nEND:VCALENDAR',
    },
  })
