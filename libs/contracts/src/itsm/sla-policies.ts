import { z } from 'zod'
import { Filter, NewFilter } from '../core/filter.js'
import { idSchema } from '../core/ids.js'
import { HoldReason, Severity, severities } from './itsm.js'
import { priorities } from './priority.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(100)
const Reference = z.string().trim().min(1).max(100)

export const SlaMetric = z.enum(['response', 'resolution', 'next_response', 'approval']).meta({
  id: 'SlaMetric',
  description:
    '`response`, of incidents alone, ends with an assignee, a public comment by anyone but the caller, or another ' +
    'status than open. `resolution` ends when the entity is resolved or closed and goes on when it is reopened. ' +
    '`next_response`, of incidents alone, starts with an unanswered public comment of the caller and ends ' +
    'with a public comment by anyone else, or when the incident is resolved or closed. `approval`, of changes and ' +
    'requests, begins when approval is asked for and ends when it is given or refused. The last two come again: the ' +
    'same timer starts again, with the next `cycle`.',
})
export type SlaMetric = z.infer<typeof SlaMetric>

/** Metrics that are measured over recurring spans, rather than once from the creation of the entity. */
export const recurringSlaMetrics = ['next_response', 'approval'] as const satisfies readonly SlaMetric[]
export type RecurringSlaMetric = (typeof recurringSlaMetrics)[number]

export const SlaEntityType = z
  .enum(['incident', 'problem', 'change', 'request'])
  .meta({ id: 'SlaEntityType', description: 'What a timer can run over.' })
export type SlaEntityType = z.infer<typeof SlaEntityType>

export const SlaGoalsBy = z.enum(['severity', 'priority', 'all']).meta({
  id: 'SlaGoalsBy',
  description: 'The field of the entity its goal depends on; `all`: one goal whatever it is like.',
})
export type SlaGoalsBy = z.infer<typeof SlaGoalsBy>

/** Keys of the goals for each value of `goalsBy`. */
export const slaGoalKeys = { severity: severities, priority: priorities, all: ['all'] } as const
export const SlaGoalKey = z.enum([...severities, ...priorities, 'all']).meta({
  id: 'SlaGoalKey',
  description: 'A severity, a priority, or `all`.',
})
export type SlaGoalKey = z.infer<typeof SlaGoalKey>

export const SlaGoalUnit = z.enum(['minutes', 'business_days']).meta({
  id: 'SlaGoalUnit',
  description:
    'What goals are given in, and timers count in: `minutes` of open time, or `business_days`, dates on which the calendar ' +
    'is open at all. The open time of such a date, however much it is, counts 86,400,000 ms in all, each part of it its share.',
})
export type SlaGoalUnit = z.infer<typeof SlaGoalUnit>

/** Action on an incident when a timer of the policy reaches a threshold. It never lowers the severity. */
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
      description: 'A manager to notify, who follows it from then on.',
    }),
    assigneeId: Reference.optional().meta({ description: 'User who is to work on it.' }),
    watcherIds: z
      .array(Reference)
      .min(1)
      .max(20)
      .overwrite((ids) => [...new Set(ids)])
      .optional()
      .meta({ description: 'Users who follow it from then on, in addition to those who do.' }),
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
    .meta({ description: 'Statuses of the entity in which the timer stands.', example: [] }),
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
        'What is done with incidents, which alone have escalations, when the timer gets so far; those of one ' +
        'percent in their order, and once in the life of a timer.',
      example: [
        { atPercent: 75, assignmentGroup: 'duty-managers' },
        { atPercent: 100, severity: 'critical' },
      ],
    }),
  status: z.enum(['active', 'inactive']).meta({ description: 'An inactive one starts no timers.' }),
}

export const SlaPolicyState = z.object({
  id: idSchema('slaPolicy'),
  ...policyFields,
  // Absent in states stored before these fields were introduced.
  goalsBy: policyFields.goalsBy.default('severity'),
  goalUnit: policyFields.goalUnit.default('minutes'),
  pauseStatuses: policyFields.pauseStatuses.default([]),
  escalations: policyFields.escalations.default([]),
  // Stored policies from before the bounds may exceed them.
  conditions: Filter.meta(overEntity),
  revision: z.int().min(1),
  activeSince: At.nullable().meta({ description: 'Entities opened before have no timer of this policy.' }),
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
