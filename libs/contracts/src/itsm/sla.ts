import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { IncidentState } from './itsm.js'
import { SlaCalendarState } from './sla-calendars.js'
import {
  SlaEntityType,
  SlaGoalKey,
  SlaGoalsBy,
  SlaGoalUnit,
  SlaMetric,
  SlaPolicyState,
} from './sla-policies.js'

const At = z.iso.datetime({ precision: 3 })
const EntityId = z.union([
  idSchema('incident'),
  idSchema('problem'),
  idSchema('change'),
  idSchema('catalogRequest'),
])

export const SlaClockState = z
  .enum(['running', 'paused', 'completed', 'canceled'])
  .meta({ id: 'SlaClockState' })
export type SlaClockState = z.infer<typeof SlaClockState>

/** State of the timer from `from` until the next entry. */
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
    // Absent in timers stored before this field was introduced.
    goalUnit: SlaGoalUnit.default('minutes'),
    goalMs: z.int().min(1).meta({
      description:
        'In open time; where `goalUnit` is `business_days`, each of them is 86,400,000 ms. So is all that counts.',
    }),
    cycle: z
      .int()
      .min(1)
      .meta({ description: 'Counts the goals the timer has had, and the spans it began with.' }),
    state: SlaClockState,
    breached: z.boolean(),
    startedAt: At.meta({ description: 'Where what comes again began last; otherwise, when the entity did.' }),
    dueAt: At.nullable().meta({ description: 'Null while paused.' }),
    nextFireAt: At.nullable().meta({ description: 'The next warning or breach.' }),
    breachedAt: At.nullable(),
    ledger: z.array(SlaLedgerEntry).min(1),
    fired: z.array(z.object({ cycle: z.int(), percent: z.int(), at: At })).meta({
      description: 'What was reported, by cycle: of the present one all, of earlier spans the last hundred.',
    }),
    entityVersion: z.int().min(1).meta({ description: 'Events of the entity up to this one are applied.' }),
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

/** A timer at an instant, with its intervals instead of its ledger. */
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

/** A timer in a list, without its history. */
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

export const SlaPreview = z
  .object({
    asOf: At,
    entityId: EntityId,
    applies: z.boolean().meta({ description: 'Whether it gets a timer.' }),
    reason: z.enum(['no_goal', 'conditions', 'ended', 'not_begun']).nullable().meta({
      description:
        'Why none: no goal for what it goes by, conditions not met, ended before they were, or nothing asked for yet.',
    }),
    // Inlined, because a schema with a component id cannot be nullable.
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
    open: z.int().meta({ description: 'Open timers of the policy.' }),
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
    'A calendar was deleted; timers that began keep it.',
  ),
  'sla_policy.created': resourceEvent(SlaPolicyState, 'An SLA policy was created.'),
  'sla_policy.updated': resourceEvent(SlaPolicyState, 'An SLA policy got a new revision.'),
  'sla_policy.deleted': resourceEvent(SlaPolicyState, 'A policy was deleted; timers that began go on.'),
  'sla.started': timerEvent(
    'An SLA timer started; a recurring one starts again each time, with another cycle.',
  ),
  'sla.paused': timerEvent('A timer was paused.'),
  'sla.resumed': timerEvent('A timer counts again.'),
  'sla.retargeted': timerEvent('A timer got another goal; the time counted and the pauses stay.', {
    cause: z.enum(['severity', 'priority', 'policy', 'time_zone']),
  }),
  'sla.warning': timerEvent('A part of the goal is used up.', {
    percent: z.int(),
    reachedAt: At,
    detectedAt: At,
  }),
  'sla.met': timerEvent('What was promised was done in time.'),
  'sla.missed': timerEvent('What was promised was done, but late.'),
  'sla.canceled': timerEvent('A timer does not apply, or no longer.'),
  'sla.breached': timerEvent('A timer went past its goal.', breach),
  'incident.sla_breached': resourceEvent(IncidentState, 'A timer of the incident went past its goal.', {
    ...breach,
    entityType: z.literal('incident'),
    entityId: idSchema('incident'),
    timerId: idSchema('slaTimer'),
  }),
} satisfies Record<string, EventDefinition>
export type SlaEventType = keyof typeof slaEvents
