import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { CalendarDay, MomentOrDay } from '../core/moment.js'
import { Actor } from '../core/principal.js'
import { TimeZoneName } from '../core/time-zone.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { ChangeConflict, ChangeState } from './changes.js'
import { weekdays } from './sla-calendars.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(100).meta({ example: 'Year-end freeze' })
const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:30')
const Reason = z.string().trim().min(1).max(2_000)
/** Limited to years in which the rules of time zones are known or can be predicted. */
const Day = z
  .string()
  .regex(/^20\d\d-\d\d-\d\d$/, 'must be a date from 2000-01-01 to 2099-12-31')
  .pipe(CalendarDay)

export const ChangeWindowKind = z.enum(['blackout', 'maintenance']).meta({
  id: 'ChangeWindowKind',
  description:
    '`blackout`: nothing may be changed during the window. `maintenance`: items with maintenance windows are ' +
    'changed only within them.',
})
export const changeWindowStatuses = ['active', 'inactive'] as const

export const WindowSpan = z
  .strictObject({
    from: MomentOrDay.meta({ example: '2026-12-20T00:00:00.000Z' }),
    to: MomentOrDay.meta({ example: '2027-01-03T00:00:00.000Z' }),
    timeZone: TimeZoneName.default('UTC').meta({
      description:
        'Time zone that determines when a given date begins. The window stores the resulting instant.',
    }),
  })
  .meta({ description: 'Span of a window that occurs once: from `from` (inclusive) to `to` (exclusive).' })
export type WindowSpan = z.infer<typeof WindowSpan>

const recurrenceFields = {
  timeZone: z
    .string()
    .min(1)
    .max(60)
    .meta({ description: 'IANA name of the time zone.', example: 'Europe/Berlin' }),
  weekdays: z
    .array(z.enum(weekdays))
    .min(1)
    .max(7)
    .overwrite((days) => weekdays.filter((day) => days.includes(day)))
    .meta({ description: 'Weekdays on which the window begins.', example: ['saturday'] }),
  from: TimeOfDay.meta({ example: '22:00' }),
  to: TimeOfDay.meta({
    description: 'End of the window. On the next day, unless it is later than `from`.',
    example: '04:00',
  }),
  validFrom: Day.nullable().meta({ description: 'First date on which the window may begin.' }),
  validUntil: Day.nullable().meta({ description: 'Last date on which the window may begin.' }),
}

const WeeklyRecurrence = z
  .strictObject({
    ...recurrenceFields,
    validFrom: recurrenceFields.validFrom.default(null),
    validUntil: recurrenceFields.validUntil.default(null),
  })
  .meta({
    description:
      'A window that recurs every week in local time of the time zone: from the first to the last instant at which ' +
      'the local time is within the window. Local times skipped by a clock change do not occur; if local times ' +
      'repeat, the window covers both occurrences.',
  })

const fields = {
  name: Name,
  kind: ChangeWindowKind,
  ciIds: z
    .array(idSchema('ci'))
    .min(1)
    .max(100)
    .overwrite((ids) => [...new Set(ids)])
    .nullable()
    .meta({ description: 'Ids of the configuration items that the window covers. `null` for all.' }),
  classes: z
    .array(z.string().trim().min(1).max(60))
    .min(1)
    .max(50)
    .overwrite((names) => [...new Set(names)])
    .nullable()
    .meta({
      description: 'Limits the window to items of these classes. `null` for any class.',
      example: ['database'],
    }),
  span: WindowSpan.nullable().meta({ description: '`null` for a recurring window.' }),
  recurrence: WeeklyRecurrence.nullable().meta({ description: '`null` for a window that occurs once.' }),
  reason: Reason.nullable(),
  status: z.enum(changeWindowStatuses).meta({ description: 'Inactive windows are ignored.' }),
}

/** A window as contained in events. */
export const ChangeWindowState = z.object({
  id: idSchema('changeWindow'),
  ...fields,
  span: z.object({ from: At, to: At }).nullable(),
  recurrence: z.object(recurrenceFields).nullable(),
  startsAt: At.nullable().meta({
    description: 'Start of the first occurrence. `null` if the recurrence has no start.',
  }),
  endsAt: At.nullable().meta({
    description: 'End of the last occurrence. `null` if the recurrence has no end.',
  }),
  createdBy: Actor,
  createdAt: At,
  updatedAt: At,
})
export type ChangeWindowState = z.infer<typeof ChangeWindowState>

export const ChangeWindow = ChangeWindowState.extend({
  version: ResourceVersion,
}).meta({ id: 'ChangeWindow' })

export const NewChangeWindow = z
  .strictObject({
    ...fields,
    ciIds: fields.ciIds.default(null),
    classes: fields.classes.default(null),
    span: fields.span.default(null),
    recurrence: fields.recurrence.default(null),
    reason: fields.reason.default(null),
    status: fields.status.default('active'),
  })
  .meta({
    id: 'NewChangeWindow',
    example: {
      name: 'Weekend maintenance',
      kind: 'maintenance',
      recurrence: { timeZone: 'Europe/Berlin', weekdays: ['saturday'], from: '22:00', to: '04:00' },
    },
  })
export type NewChangeWindow = z.infer<typeof NewChangeWindow>

const { kind: _, ...changeable } = fields
export const ChangeWindowPatch = z
  .strictObject(changeable)
  .partial()
  .meta({ id: 'ChangeWindowPatch', example: { status: 'inactive' } })
export type ChangeWindowPatch = z.infer<typeof ChangeWindowPatch>

export const AcceptConflicts = z
  .strictObject({
    acceptConflicts: z.boolean().default(false).meta({
      description: 'Proceeds despite conflicts with a blackout. Not required for emergency changes.',
    }),
    reason: Reason.optional().meta({
      description:
        'Reason for accepting the conflicts. Required with `acceptConflicts`; included in the event.',
    }),
  })
  .refine(({ acceptConflicts, reason }) => !acceptConflicts || reason !== undefined, {
    path: ['reason'],
    message: 'is needed to accept conflicts',
  })
  .meta({
    id: 'AcceptConflicts',
    example: { acceptConflicts: true, reason: 'The board agreed: the disks fail.' },
  })
export type AcceptConflicts = z.infer<typeof AcceptConflicts>

export const ChangeConflicts = z
  .object({
    asOf: At,
    conflicts: z.array(ChangeConflict).meta({ description: 'Conflicts of the change, at most 50.' }),
  })
  .meta({ id: 'ChangeConflicts' })

const Times = z.object({ from: At, to: At })

export const ChangeSlots = z
  .object({ durationMinutes: z.int().positive(), slots: z.array(Times) })
  .meta({ id: 'ChangeSlots' })
export type ChangeSlots = z.infer<typeof ChangeSlots>

export const ChangeCalendarQuery = z.object({
  from: MomentOrDay.optional().meta({ description: 'Default: now.' }),
  to: MomentOrDay.optional().meta({
    description: 'At most 92 days after `from`. Default: 31 days after `from`.',
  }),
})

export const ChangeCalendar = z
  .object({
    from: At,
    to: At,
    changes: z.array(
      ChangeState.pick({
        id: true,
        number: true,
        title: true,
        type: true,
        status: true,
        risk: true,
        assigneeId: true,
        assignmentGroup: true,
        ciIds: true,
      }).extend({
        plannedStart: At,
        plannedEnd: At,
        conflicts: z.int().min(0).meta({ description: 'Number of conflicts recorded for the change.' }),
      }),
    ),
    windows: z
      .array(
        ChangeWindowState.pick({ id: true, name: true, kind: true, ciIds: true, classes: true }).extend(
          Times.shape,
        ),
      )
      .meta({ description: 'All occurrences of each window, with their full start and end.' }),
    truncated: z.boolean().meta({
      description:
        'Whether there are more than 1,000 changes or more than 1,000 occurrences of windows. The earliest ones are ' +
        'returned.',
    }),
  })
  .meta({ id: 'ChangeCalendar' })
export type ChangeCalendar = z.infer<typeof ChangeCalendar>

export const changeWindowEvents = {
  'change_window.created': resourceEvent(ChangeWindowState, 'A blackout or maintenance window was set up.'),
  'change_window.updated': resourceEvent(ChangeWindowState, 'A blackout or maintenance window changed.'),
  'change_window.deleted': resourceEvent(ChangeWindowState, 'A blackout or maintenance window was dropped.'),
} satisfies Record<string, EventDefinition>
