import { z } from 'zod'
import { type EventDefinition, resourceEvent } from './catalog.js'
import { Filter, NewFilter } from './filter.js'
import { idSchema } from './ids.js'
import { HoldReason, IncidentState, Severity, severities } from './itsm.js'
import { priorities } from './priority.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(100)
const Reference = z.string().trim().min(1).max(100)
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
export type Weekday = (typeof weekdays)[number]

export const SlaHours = z
  .strictObject({
    from: TimeOfDay.meta({ example: '09:00' }),
    to: z.union([TimeOfDay, z.literal('24:00')]).meta({ example: '17:30' }),
  })
  .meta({ id: 'SlaHours', description: 'Open from, to before; in the wall-clock time of the calendar.' })
export type SlaHours = z.infer<typeof SlaHours>
const DayHours = z.array(SlaHours).max(24)

const calendarFields = {
  name: Name.meta({ example: 'Office hours' }),
  timeZone: z.string().min(1).max(60).meta({ description: 'IANA name.', example: 'Europe/Berlin' }),
  week: z
    .partialRecord(z.enum(weekdays), DayHours)
    .meta({ description: 'Hours by weekday; a day left out is closed.', example: { monday: [] } }),
  holidays: z
    .array(z.object({ date: z.iso.date(), yearly: z.boolean(), name: z.string().max(100) }))
    .max(500)
    .meta({ description: 'Closed dates; a yearly one returns on its month and day.' }),
  exceptions: z
    .array(z.object({ date: z.iso.date(), hours: DayHours }))
    .max(500)
    .meta({ description: 'Dates with other hours. They go before holidays.' }),
}

/** When time counts: what clocks are pinned to is one revision of it. */
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
  date: z.iso.date(),
  yearly: z.boolean().default(false),
  name: z.string().trim().max(100).default(''),
})
const NewException = z.strictObject({ date: z.iso.date(), hours: DayHours })
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
          'A calendar in iCalendar format: events of whole days, once or every year on the same date. What cannot be kept ' +
          'as such a holiday is refused by name.',
      }),
    replace: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether they take the place of the holidays there are.' }),
  })
  .meta({
    id: 'ImportHolidays',
    example: {
      ical: 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20261225\r\nSUMMARY:Christmas\r\nEND:VEVENT\r\nEND:VCALENDAR',
    },
  })

export const SlaMetric = z.enum(['response', 'resolution', 'next_response', 'approval']).meta({
  id: 'SlaMetric',
  description:
    '`response`, of incidents alone, ends with an assignee, a public comment by anyone but the caller, or another ' +
    'status than open. `resolution` ends when the entity is resolved or closed and goes on when it is reopened. ' +
    '`next_response`, of incidents alone, begins with a public comment of the caller that nobody has answered and ends ' +
    'with a public comment by anyone else, or when the incident is resolved or closed. `approval`, of changes and ' +
    'requests, begins when approval is asked for and ends when it is given or refused. The last two come again: the ' +
    'same clock begins anew, with the next `cycle`.',
})
export type SlaMetric = z.infer<typeof SlaMetric>

/** What is measured over spans that come again, rather than once from the creation of the entity on. */
export const recurringSlaMetrics = ['next_response', 'approval'] as const satisfies readonly SlaMetric[]
export type RecurringSlaMetric = (typeof recurringSlaMetrics)[number]

export const SlaEntityType = z
  .enum(['incident', 'problem', 'change', 'request'])
  .meta({ id: 'SlaEntityType', description: 'What a clock can run over.' })
export type SlaEntityType = z.infer<typeof SlaEntityType>
const EntityId = z.union([
  idSchema('incident'),
  idSchema('problem'),
  idSchema('change'),
  idSchema('catalogRequest'),
])

export const SlaGoalsBy = z.enum(['severity', 'priority', 'all']).meta({
  id: 'SlaGoalsBy',
  description: 'The field of the entity its goal depends on; `all`: one goal whatever it is like.',
})
export type SlaGoalsBy = z.infer<typeof SlaGoalsBy>

/** What goals are keyed by, for each way to go by. */
export const slaGoalKeys = { severity: severities, priority: priorities, all: ['all'] } as const
export const SlaGoalKey = z.enum([...severities, ...priorities, 'all']).meta({
  id: 'SlaGoalKey',
  description: 'A severity, a priority, or `all`.',
})
export type SlaGoalKey = z.infer<typeof SlaGoalKey>

export const SlaGoalUnit = z.enum(['minutes', 'business_days']).meta({
  id: 'SlaGoalUnit',
  description:
    'What goals are given in, and clocks count in: `minutes` of open time, or `business_days`, dates on which the calendar ' +
    'is open at all. The open time of such a date, however much it is, counts 86,400,000 ms in all, each part of it its share.',
})
export type SlaGoalUnit = z.infer<typeof SlaGoalUnit>

/** What is done with an incident when a clock of the policy reaches a threshold. It only ever raises. */
export const SlaEscalation = z
  .strictObject({
    atPercent: z
      .int()
      .min(1)
      .max(100)
      .meta({ description: 'One of `warnings`, or 100: the breach.', example: 75 }),
    severity: Severity.optional().meta({ description: 'Raised to this where it is milder.' }),
    assignmentGroup: Reference.optional().meta({
      description: 'Team it is handed to.',
      example: 'duty-managers',
    }),
    escalateTo: Reference.optional().meta({
      description: 'Somebody higher up, who is to know of it and follows it from then on.',
    }),
    assigneeId: Reference.optional().meta({ description: 'User who is to work on it.' }),
    watcherIds: z
      .array(Reference)
      .min(1)
      .max(20)
      .overwrite((ids) => [...new Set(ids)])
      .optional()
      .meta({ description: 'Users who are to follow it, beside those who do.' }),
  })
  .meta({ id: 'SlaEscalation', example: { atPercent: 75, assignmentGroup: 'duty-managers' } })
export type SlaEscalation = z.infer<typeof SlaEscalation>

const overEntity = { description: 'Over the entity; all must hold.', example: { category: 'vip' } }

const policyFields = {
  name: Name.meta({ example: 'Gold' }),
  entityType: SlaEntityType,
  metric: SlaMetric,
  goalsBy: SlaGoalsBy,
  goals: z.partialRecord(SlaGoalKey, z.int().min(1).max(5_256_000)).meta({
    description:
      'Minutes of open hours, or business days as `goalUnit` says: by severity, by priority, or `all`, as `goalsBy` says.',
    example: { critical: 60, high: 240 },
  }),
  goalUnit: SlaGoalUnit,
  calendarId: idSchema('slaCalendar')
    .nullable()
    .meta({ description: 'Null: around the clock.', example: null }),
  conditions: NewFilter.meta(overEntity),
  pauseReasons: z
    .array(HoldReason)
    .max(10)
    .meta({ description: 'Hold reasons of incidents that stop the clock.' }),
  pauseStatuses: z
    .array(z.string().min(1).max(50))
    .max(20)
    .meta({ description: 'Statuses of the entity in which the clock stands.', example: [] }),
  warnings: z
    .array(z.int().min(1).max(99))
    .max(10)
    .overwrite((percents) => [...new Set(percents)].sort((a, b) => a - b))
    .meta({ description: 'Percent of the goal at which to warn.', example: [50, 75, 90] }),
  escalations: z
    .array(SlaEscalation)
    .max(10)
    .meta({
      description:
        'What is done with incidents, which alone have escalations, when the clock gets so far; those of one ' +
        'percent in their order, and once in the life of a clock.',
      example: [
        { atPercent: 75, assignmentGroup: 'duty-managers' },
        { atPercent: 100, severity: 'critical' },
      ],
    }),
  status: z.enum(['active', 'inactive']).meta({ description: 'An inactive one starts no clocks.' }),
}

export const SlaPolicyState = z.object({
  id: idSchema('slaPolicy'),
  ...policyFields,
  // States from before these fields were introduced lack them.
  goalsBy: policyFields.goalsBy.default('severity'),
  goalUnit: policyFields.goalUnit.default('minutes'),
  pauseStatuses: policyFields.pauseStatuses.default([]),
  escalations: policyFields.escalations.default([]),
  // Those of before were not bounded.
  conditions: Filter.meta(overEntity),
  revision: z.int().min(1),
  activeSince: At.nullable().meta({ description: 'Entities opened before have no clock of this policy.' }),
  createdAt: At,
  updatedAt: At,
})
export type SlaPolicyState = z.infer<typeof SlaPolicyState>
export const SlaPolicy = SlaPolicyState.extend({ version: z.int().min(1) }).meta({ id: 'SlaPolicy' })
export type SlaPolicy = z.infer<typeof SlaPolicy>

export const NewSlaPolicy = z
  .strictObject({
    ...policyFields,
    entityType: policyFields.entityType.default('incident'),
    goalsBy: policyFields.goalsBy.optional().meta({
      description:
        'The field its goal depends on: by default `severity` for incidents, `priority` for problems, `all` for others.',
    }),
    goalUnit: policyFields.goalUnit.default('minutes').meta({
      description: 'What goals are given in. Business days need a calendar.',
    }),
    calendarId: policyFields.calendarId.default(null),
    conditions: policyFields.conditions.default({}),
    pauseReasons: policyFields.pauseReasons.optional().meta({
      description:
        'Hold reasons that stop the clock: by default awaiting_caller and awaiting_vendor for incidents, the only ' +
        'kind that has any.',
    }),
    pauseStatuses: policyFields.pauseStatuses.default([]),
    warnings: policyFields.warnings.default([50, 75, 90]),
    escalations: policyFields.escalations.default([]),
    status: policyFields.status.default('active'),
  })
  .meta({
    id: 'NewSlaPolicy',
    example: {
      name: 'Gold',
      metric: 'resolution',
      goals: { critical: 60, high: 240 },
      escalations: [{ atPercent: 75, assignmentGroup: 'duty-managers' }],
    },
  })
export type NewSlaPolicy = z.infer<typeof NewSlaPolicy>
const { entityType: _, metric: __, ...changeable } = policyFields
export const SlaPolicyPatch = z
  .strictObject(changeable)
  .partial()
  .meta({
    id: 'SlaPolicyPatch',
    example: { goals: { critical: 30, high: 240 } },
  })
export type SlaPolicyPatch = z.infer<typeof SlaPolicyPatch>

export const SlaClockState = z
  .enum(['running', 'paused', 'completed', 'canceled'])
  .meta({ id: 'SlaClockState' })
export type SlaClockState = z.infer<typeof SlaClockState>

/** From when on the clock is in a state, until the next entry. */
export const SlaLedgerEntry = z.object({
  from: At,
  state: SlaClockState,
  reason: z.string().nullable(),
  eventId: z.string().meta({ description: 'The event of the entity that led to it.' }),
})
export type SlaLedgerEntry = z.infer<typeof SlaLedgerEntry>

export const SlaTimer = z
  .object({
    id: idSchema('slaTimer'),
    entityType: SlaEntityType,
    entityId: EntityId,
    entityNumber: z.string(),
    policyId: idSchema('slaPolicy'),
    policyName: z.string(),
    policyRevision: z.int().min(1),
    calendarId: idSchema('slaCalendar').nullable(),
    calendarRevision: z.int().min(1).nullable(),
    metric: SlaMetric,
    goalsBy: SlaGoalsBy,
    goalKey: SlaGoalKey.meta({ description: 'What the entity has of what goals go by.' }),
    // Those from before lack it.
    goalUnit: SlaGoalUnit.default('minutes'),
    goalMs: z.int().min(1).meta({
      description:
        'In open time; where `goalUnit` is `business_days`, each of them is 86,400,000 ms. So is all that counts.',
    }),
    cycle: z
      .int()
      .min(1)
      .meta({ description: 'Counts the goals the clock has had, and the spans it began with.' }),
    state: SlaClockState,
    breached: z.boolean(),
    startedAt: At.meta({ description: 'Where what comes again began last; otherwise, when the entity did.' }),
    dueAt: At.nullable().meta({ description: 'Null while paused.' }),
    nextFireAt: At.nullable().meta({ description: 'The next warning or breach.' }),
    breachedAt: At.nullable(),
    ledger: z.array(SlaLedgerEntry).min(1),
    fired: z.array(z.object({ cycle: z.int(), percent: z.int(), at: At })).meta({
      description: 'What was told, by cycle: of the present one all, of earlier spans the last hundred.',
    }),
    entityVersion: z.int().min(1).meta({ description: 'Events of the entity up to this one are heeded.' }),
    createdAt: At,
    updatedAt: At,
  })
  .meta({ id: 'SlaTimer' })
export type SlaTimer = z.infer<typeof SlaTimer>

export const SlaInterval = z
  .object({
    from: At,
    to: At,
    state: z.union([SlaClockState, z.literal('closed')]),
    countedMs: z
      .int()
      .min(0)
      .meta({ description: 'What it adds to the elapsed time: open time, or its part of business days.' }),
    reason: z.string().nullable(),
    eventId: z.string(),
  })
  .meta({ id: 'SlaInterval' })
export type SlaInterval = z.infer<typeof SlaInterval>

/** A clock as it is at an instant, with what it did when in place of its ledger. */
export const ExplainedSlaTimer = SlaTimer.omit({ ledger: true })
  .extend({
    elapsedMs: z.int().min(0).meta({ description: 'What it has counted, in the measure of `goalMs`.' }),
    remainingMs: z.int().meta({ description: 'Negative once overdue.' }),
    intervals: z.array(SlaInterval),
  })
  .meta({ id: 'ExplainedSlaTimer' })
export type ExplainedSlaTimer = z.infer<typeof ExplainedSlaTimer>

export const IncidentSla = z
  .object({ asOf: At, timers: z.array(ExplainedSlaTimer) })
  .meta({ id: 'IncidentSla' })
export type IncidentSla = z.infer<typeof IncidentSla>

/** A clock in a list: without its history. */
export const SlaTimerItem = SlaTimer.omit({ ledger: true, fired: true })
  .extend({ version: z.int().min(1) })
  .meta({ id: 'SlaTimerItem' })
export type SlaTimerItem = z.infer<typeof SlaTimerItem>

export const PreviewSla = z
  .strictObject({
    entityId: z.string().min(1).max(100).meta({
      description: 'An entity of the kind the policy is for: its id, or its number.',
    }),
  })
  .meta({ id: 'PreviewSla', example: { entityId: 'INC-42' } })
export type PreviewSla = z.infer<typeof PreviewSla>

export const SlaPreview = z
  .object({
    asOf: At,
    entityId: EntityId,
    applies: z.boolean().meta({ description: 'Whether it gets a clock.' }),
    reason: z.enum(['no_goal', 'conditions', 'ended', 'not_begun']).nullable().meta({
      description:
        'Why none: no goal for what it goes by, conditions not met, ended before they were, or nothing asked for yet.',
    }),
    // Written out, as a schema with an id of its own cannot be nullable.
    clock: z.object(ExplainedSlaTimer.omit({ id: true }).shape).nullable(),
  })
  .meta({ id: 'SlaPreview' })
export type SlaPreview = z.infer<typeof SlaPreview>

export const ReapplySla = z.strictObject({ dryRun: z.boolean().default(true) }).meta({
  id: 'ReapplySla',
  example: { dryRun: true },
})
const Applied = SlaTimer.pick({
  policyRevision: true,
  calendarRevision: true,
  goalUnit: true,
  goalMs: true,
  state: true,
  dueAt: true,
})
export const SlaReapplied = z
  .object({
    dryRun: z.boolean(),
    open: z.int().meta({ description: 'Open clocks of the policy.' }),
    changed: z.int().meta({ description: 'Those pinned to something else than the present revisions.' }),
    applied: z.int().meta({ description: 'Of those, changed now: 1,000 at most.' }),
    remaining: z.int().meta({ description: 'Still to be changed: repeat the request until there are none.' }),
    changes: z
      .array(z.object({ timerId: z.string(), entityId: z.string(), before: Applied, after: Applied }))
      .meta({ description: 'The first 200.' }),
  })
  .meta({ id: 'SlaReapplied' })
export type SlaReapplied = z.infer<typeof SlaReapplied>

const timerEvent = <Extras extends z.ZodRawShape = Record<never, never>>(text: string, extras?: Extras) =>
  resourceEvent(SlaTimer, text, extras)
const breach = {
  entityType: SlaEntityType,
  entityId: EntityId,
  metric: SlaMetric,
  dueAt: At,
  breachedAt: At,
  detectedAt: At,
  policyId: idSchema('slaPolicy'),
}

export const slaEvents = {
  'sla_calendar.created': resourceEvent(SlaCalendarState, 'A calendar of open hours was created.'),
  'sla_calendar.updated': resourceEvent(SlaCalendarState, 'A calendar got a new revision.'),
  'sla_calendar.deleted': resourceEvent(
    SlaCalendarState,
    'A calendar was deleted; clocks that began keep it.',
  ),
  'sla_policy.created': resourceEvent(SlaPolicyState, 'An SLA policy was created.'),
  'sla_policy.updated': resourceEvent(SlaPolicyState, 'An SLA policy got a new revision.'),
  'sla_policy.deleted': resourceEvent(SlaPolicyState, 'A policy was deleted; clocks that began go on.'),
  'sla.started': timerEvent(
    'An SLA clock began to count; one of what comes again begins anew each time, with another cycle.',
  ),
  'sla.paused': timerEvent('A clock was paused.'),
  'sla.resumed': timerEvent('A clock counts again.'),
  'sla.retargeted': timerEvent('A clock got another goal; the time counted and the pauses stay.', {
    cause: z.enum(['severity', 'priority', 'policy', 'time_zone']),
  }),
  'sla.warning': timerEvent('A part of the goal is used up.', {
    percent: z.int(),
    reachedAt: At,
    detectedAt: At,
  }),
  'sla.met': timerEvent('What was promised was done in time.'),
  'sla.missed': timerEvent('What was promised was done, but late.'),
  'sla.canceled': timerEvent('A clock does not apply, or no longer.'),
  'sla.breached': timerEvent('A clock went past its goal.', breach),
  'incident.sla_breached': resourceEvent(IncidentState, 'A clock of the incident went past its goal.', {
    ...breach,
    entityType: z.literal('incident'),
    entityId: idSchema('incident'),
    timerId: idSchema('slaTimer'),
  }),
} satisfies Record<string, EventDefinition>
export type SlaEventType = keyof typeof slaEvents
