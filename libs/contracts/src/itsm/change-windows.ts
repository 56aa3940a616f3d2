import { z } from 'zod'
import { idSchema } from '../core/ids.js'
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
    'In a blackout nothing may be changed; items with maintenance windows are changed within them.',
})
export const changeWindowStatuses = ['active', 'inactive'] as const

export const WindowSpan = z
  .strictObject({
    from: MomentOrDay.meta({ example: '2026-12-20T00:00:00.000Z' }),
    to: MomentOrDay.meta({ example: '2027-01-03T00:00:00.000Z' }),
    timeZone: TimeZoneName.default('UTC').meta({
      description: 'By whose clock a date begins that is given for an instant; the window keeps the instant.',
    }),
  })
  .meta({ description: 'Once: from, to before.' })
export type WindowSpan = z.infer<typeof WindowSpan>

const recurrenceFields = {
  timeZone: z.string().min(1).max(60).meta({ description: 'IANA name.', example: 'Europe/Berlin' }),
  weekdays: z
    .array(z.enum(weekdays))
    .min(1)
    .max(7)
    .overwrite((days) => weekdays.filter((day) => days.includes(day)))
    .meta({ description: 'On which it begins.', example: ['saturday'] }),
  from: TimeOfDay.meta({ example: '22:00' }),
  to: TimeOfDay.meta({ description: 'On the next day, unless it is later than `from`.', example: '04:00' }),
  validFrom: Day.nullable().meta({ description: 'First date on which it may begin.' }),
  validUntil: Day.nullable().meta({ description: 'Last date on which it may begin.' }),
}

const WeeklyRecurrence = z
  .strictObject({
    ...recurrenceFields,
    validFrom: recurrenceFields.validFrom.default(null),
    validUntil: recurrenceFields.validUntil.default(null),
  })
  .meta({
    description:
      'Every week by the wall clock of the zone: from the first to the last instant at which it shows a time of the ' +
      'window. Times the clock skips are not there; a window the clock shows twice lasts through both.',
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
    .meta({ description: 'Items it covers; null for all.' }),
  classes: z
    .array(z.string().trim().min(1).max(60))
    .min(1)
    .max(50)
    .overwrite((names) => [...new Set(names)])
    .nullable()
    .meta({ description: 'Of those, the items of these classes; null for any.', example: ['database'] }),
  span: WindowSpan.nullable().meta({ description: 'Null when it recurs.' }),
  recurrence: WeeklyRecurrence.nullable().meta({ description: 'Null when it happens once.' }),
  reason: Reason.nullable(),
  status: z.enum(changeWindowStatuses).meta({ description: 'An inactive one is ignored.' }),
}

/** A window as contained in events. */
export const ChangeWindowState = z.object({
  id: idSchema('changeWindow'),
  ...fields,
  span: z.object({ from: At, to: At }).nullable(),
  recurrence: z.object(recurrenceFields).nullable(),
  startsAt: At.nullable().meta({
    description: 'When it begins for the first time; null: it always recurred.',
  }),
  endsAt: At.nullable().meta({ description: 'When it ends for the last time; null: it recurs for ever.' }),
  createdBy: Actor,
  createdAt: At,
  updatedAt: At,
})
export type ChangeWindowState = z.infer<typeof ChangeWindowState>

export const ChangeWindow = ChangeWindowState.extend({
  version: z.int().positive().meta({ description: 'Also the ETag; send it as If-Match.' }),
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
    acceptConflicts: z
      .boolean()
      .default(false)
      .meta({ description: 'Go on although a blackout says otherwise. Emergency changes need not say so.' }),
    reason: Reason.optional().meta({ description: 'Goes with acceptConflicts, and into the event.' }),
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
  .object({ asOf: At, conflicts: z.array(ChangeConflict).meta({ description: 'At most 50.' }) })
  .meta({ id: 'ChangeConflicts' })

const Times = z.object({ from: At, to: At })

export const ChangeSlots = z
  .object({ durationMinutes: z.int().positive(), slots: z.array(Times) })
  .meta({ id: 'ChangeSlots' })
export type ChangeSlots = z.infer<typeof ChangeSlots>

export const ChangeCalendarQuery = z.object({
  from: MomentOrDay.optional().meta({ description: 'Now unless given.' }),
  to: MomentOrDay.optional().meta({
    description: 'At most 92 days after `from`; 31 days after it unless given.',
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
        conflicts: z.int().min(0).meta({ description: 'How many the change keeps.' }),
      }),
    ),
    windows: z
      .array(
        ChangeWindowState.pick({ id: true, name: true, kind: true, ciIds: true, classes: true }).extend(
          Times.shape,
        ),
      )
      .meta({ description: 'Every time each window is on, whole.' }),
    truncated: z
      .boolean()
      .meta({ description: 'There are more than 1,000 of either; the earliest are shown.' }),
  })
  .meta({ id: 'ChangeCalendar' })
export type ChangeCalendar = z.infer<typeof ChangeCalendar>

export const changeWindowEvents = {
  'change_window.created': resourceEvent(ChangeWindowState, 'A blackout or maintenance window was set up.'),
  'change_window.updated': resourceEvent(ChangeWindowState, 'A blackout or maintenance window changed.'),
  'change_window.deleted': resourceEvent(ChangeWindowState, 'A blackout or maintenance window was dropped.'),
} satisfies Record<string, EventDefinition>
