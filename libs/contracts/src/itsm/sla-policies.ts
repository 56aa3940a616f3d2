import { z } from 'zod'
import { Filter, NewFilter } from '../core/filter.js'
import { idSchema } from '../core/ids.js'
import { HoldReason, Severity, severities } from './incident-values.js'
import { priorities } from './priority.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(100)
const Reference = z.string().trim().min(1).max(100)

export const SlaMetric = z.enum(['response', 'resolution', 'next_response', 'approval']).meta({
  id: 'SlaMetric',
  description:
    '`response` (incidents only) ends with an assignee, a public comment by anyone but the caller of the ' +
    'incident, or a status other than open. `resolution` ends when the entity is resolved or closed, and ' +
    'continues when it is reopened. `next_response` (incidents only) starts with an unanswered public comment of ' +
    'the caller of the incident and ends with a public comment by anyone else, or when the incident is resolved ' +
    'or closed. `approval` (changes and requests) starts when approval is requested and ends when it is granted ' +
    'or refused. `next_response` and `approval` recur: the same timer starts again with the next `cycle`.',
})
export type SlaMetric = z.infer<typeof SlaMetric>

/** Metrics that are measured over recurring spans, rather than once from the creation of the entity. */
export const recurringSlaMetrics = ['next_response', 'approval'] as const satisfies readonly SlaMetric[]
export type RecurringSlaMetric = (typeof recurringSlaMetrics)[number]

export const SlaEntityType = z
  .enum(['incident', 'problem', 'change', 'request'])
  .meta({ id: 'SlaEntityType', description: 'Type of entity that a timer measures.' })
export type SlaEntityType = z.infer<typeof SlaEntityType>

export const SlaGoalsBy = z.enum(['severity', 'priority', 'all']).meta({
  id: 'SlaGoalsBy',
  description: 'Field of the entity that determines its goal. `all`: one goal for every entity.',
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
    'Unit of the goals and of the time that timers count: `minutes` of open time, or `business_days`, the dates ' +
    'on which the calendar is open at all. The entire open time of such a date, however long, counts as ' +
    '86,400,000 ms, and each part of it proportionally.',
})
export type SlaGoalUnit = z.infer<typeof SlaGoalUnit>

/** Action on an incident when a timer of the policy reaches a threshold. It never lowers the severity. */
export const SlaEscalation = z
  .strictObject({
    atPercent: z.int().min(1).max(100).meta({
      description: 'Percentage of the goal: one of `warnings`, or 100 for the breach.',
      example: 75,
    }),
    severity: Severity.optional().meta({
      description: 'Severity to which the incident is raised if its own severity is lower.',
    }),
    assignmentGroup: Reference.optional().meta({
      description: 'Team to which the incident is assigned.',
      example: 'duty-managers',
    }),
    escalateTo: Reference.optional().meta({
      description: 'Manager who is notified and follows the incident from then on.',
    }),
    assigneeId: Reference.optional().meta({ description: 'User to whom the incident is assigned.' }),
    watcherIds: z
      .array(Reference)
      .min(1)
      .max(20)
      .overwrite((ids) => [...new Set(ids)])
      .optional()
      .meta({
        description: 'Users who follow the incident from then on, in addition to the existing followers.',
      }),
  })
  .meta({ id: 'SlaEscalation', example: { atPercent: 75, assignmentGroup: 'duty-managers' } })
export type SlaEscalation = z.infer<typeof SlaEscalation>

const overEntity = {
  description: 'Conditions over the fields of the entity, all of which must hold.',
  example: { category: 'vip' },
}

const policyFields = {
  name: Name.meta({ example: 'Gold' }),
  entityType: SlaEntityType,
  metric: SlaMetric,
  goalsBy: SlaGoalsBy,
  goals: z.partialRecord(SlaGoalKey, z.int().min(1).max(5_256_000)).meta({
    description:
      'Goals by severity, by priority or for `all`, depending on `goalsBy`. The values are minutes of open time or ' +
      'business days, depending on `goalUnit`.',
    example: { critical: 60, high: 240 },
  }),
  goalUnit: SlaGoalUnit,
  calendarId: idSchema('slaCalendar')
    .nullable()
    .meta({ description: 'Calendar with the open hours. `null`: around the clock.', example: null }),
  conditions: NewFilter.meta(overEntity),
  pauseReasons: z
    .array(HoldReason)
    .max(10)
    .meta({ description: 'Hold reasons of incidents that pause the timer.' }),
  pauseStatuses: z
    .array(z.string().min(1).max(50))
    .max(20)
    .meta({ description: 'Statuses of the entity in which the timer is paused.', example: [] }),
  warnings: z
    .array(z.int().min(1).max(99))
    .max(10)
    .overwrite((percents) => [...new Set(percents)].sort((a, b) => a - b))
    .meta({
      description: 'Percentages of the goal at which the timer emits a warning.',
      example: [50, 75, 90],
    }),
  escalations: z
    .array(SlaEscalation)
    .max(10)
    .meta({
      description:
        'Actions on the incident when the timer reaches a percentage of the goal; only policies for incidents have ' +
        'escalations. Actions of the same percentage run in their order, and once in the life of a timer.',
      example: [
        { atPercent: 75, assignmentGroup: 'duty-managers' },
        { atPercent: 100, severity: 'critical' },
      ],
    }),
  status: z
    .enum(['active', 'inactive'])
    .meta({ description: 'Status of the policy. An inactive policy starts no timers.' }),
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
  activeSince: At.nullable().meta({
    description:
      'Time since which the policy is active. Entities opened earlier have no timer of this policy.',
  }),
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
        'Field of the entity that determines its goal. Default: `severity` for incidents, `priority` for problems, ' +
        '`all` for others.',
    }),
    goalUnit: policyFields.goalUnit.default('minutes').meta({
      description: 'Unit of the goals. Business days require a calendar.',
    }),
    calendarId: policyFields.calendarId.default(null),
    conditions: policyFields.conditions.default({}),
    pauseReasons: policyFields.pauseReasons.optional().meta({
      description:
        'Hold reasons that pause the timer. Default for incidents: awaiting_caller and awaiting_vendor; other ' +
        'entities have no hold reasons.',
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
