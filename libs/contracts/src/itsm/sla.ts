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
  eventId: z.string().meta({ description: 'Id of the event of the entity that led to this state.' }),
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
    goalKey: SlaGoalKey.meta({
      description:
        'Severity or priority of the entity that determines the goal, or `all`, depending on `goalsBy`.',
    }),
    // Absent in timers stored before this field was introduced.
    goalUnit: SlaGoalUnit.default('minutes'),
    goalMs: z
      .int()
      .min(1)
      .meta({
        description:
          'Goal in milliseconds of open time. If `goalUnit` is `business_days`, each business day equals 86,400,000 ' +
          'ms; the same applies to all counted times.',
      }),
    cycle: z.int().min(1).meta({
      description:
        'Number of the current cycle. Increases with each new goal and with each new start of the timer.',
    }),
    state: SlaClockState,
    breached: z.boolean(),
    startedAt: At.meta({
      description: 'Latest start of the timer for recurring metrics; otherwise, the creation of the entity.',
    }),
    dueAt: At.nullable().meta({
      description: 'Time at which the goal is exceeded; `null` while the timer is paused before its breach.',
    }),
    nextFireAt: At.nullable().meta({ description: 'Time of the next warning or breach.' }),
    breachedAt: At.nullable(),
    ledger: z.array(SlaLedgerEntry).min(1),
    fired: z.array(z.object({ cycle: z.int(), percent: z.int(), at: At })).meta({
      description:
        'Reported warnings and breaches by cycle: all of the current span, and the last hundred of earlier spans.',
    }),
    entityVersion: z
      .int()
      .min(1)
      .meta({ description: 'Version of the entity up to which its events are applied to the timer.' }),
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
    countedMs: z.int().min(0).meta({
      description:
        'Time that the interval adds to the elapsed time: its open time, or its share of business days.',
    }),
    reason: z.string().nullable(),
    eventId: z.string(),
  })
  .meta({ id: 'SlaInterval' })
export type SlaInterval = z.infer<typeof SlaInterval>

/** A timer at an instant, with its intervals instead of its ledger. */
export const ExplainedSlaTimer = SlaTimer.omit({ ledger: true })
  .extend({
    elapsedMs: z
      .int()
      .min(0)
      .meta({ description: 'Time that the timer has counted, in the unit of `goalMs`.' }),
    remainingMs: z
      .int()
      .meta({ description: 'Time until the goal is exceeded; negative once the timer is overdue.' }),
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
      description: 'Id or number of an entity of the type that the policy applies to.',
    }),
  })
  .meta({ id: 'PreviewSla', example: { entityId: 'INC-42' } })

export const SlaPreview = z
  .object({
    asOf: At,
    entityId: EntityId,
    applies: z.boolean().meta({ description: 'Whether the entity has a timer under the policy.' }),
    reason: z
      .enum(['no_goal', 'conditions', 'ended', 'not_begun'])
      .nullable()
      .meta({
        description:
          'Reason why the entity has no timer. `no_goal`: the policy has no goal for it. `conditions`: the conditions ' +
          'are not met. `ended`: the entity ended before the conditions were met. `not_begun`: no response or approval ' +
          'has been requested yet.',
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
    open: z.int().meta({ description: 'Number of open timers of the policy.' }),
    changed: z
      .int()
      .meta({ description: 'Number of open timers that are not pinned to the current revisions.' }),
    applied: z
      .int()
      .meta({ description: 'Number of those timers that this request changed, at most 1,000.' }),
    remaining: z
      .int()
      .meta({ description: 'Number of timers still to be changed. Repeat the request until it is 0.' }),
    changes: z
      .array(z.object({ timerId: z.string(), entityId: z.string(), before: Applied, after: Applied }))
      .meta({ description: 'First 200 changes.' }),
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
