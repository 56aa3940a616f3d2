import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { Actor } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { allowedActionsSchema, requireForAll } from './allowed-actions.js'
import {
  HoldReason,
  IncidentAction,
  IncidentChannel,
  IncidentStatus,
  incidentActions,
  MajorAction,
  MajorState,
  majorActions,
  ResolutionCode,
  Severity,
} from './incident-values.js'
import { Level, Priority } from './priority.js'

const Title = z.string().trim().min(1).max(200).meta({ example: 'Checkout answers 502' })
const Description = z.string().max(20_000).nullable().meta({ description: 'Observed symptoms, in Markdown.' })
const Reference = z.string().trim().min(1).max(100)
const AssigneeId = Reference.nullable().meta({
  description: 'User who works on the incident.',
  example: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
})
const AssignmentGroup = Reference.nullable().meta({
  description: 'Team responsible for the incident.',
  example: 'payments',
})
const Channel = IncidentChannel.nullable().meta({
  description: 'Channel through which the incident was reported.',
  example: 'phone',
})
const Category = Reference.nullable().meta({ example: 'availability' })
const CiId = Reference.nullable().meta({ description: 'The affected configuration item.' })
const CallerId = Reference.nullable().meta({ description: 'The affected user who asked for help.' })
const Tags = z
  .array(z.string().trim().min(1).max(50))
  .max(50)
  .overwrite((tags) => [...new Set(tags)])
  .meta({ description: 'Tags. Duplicates are removed.', example: ['checkout'] })
const Impact = Level.meta({ description: 'Extent of the effect.' })
const Urgency = Level.meta({ description: 'How soon the incident must be resolved.' })
const WatcherIds = z
  .array(Reference)
  .max(100)
  .overwrite((ids) => [...new Set(ids)])
  .meta({ description: 'Users who follow the incident. Duplicates are removed.' })
const ProblemId = idSchema('problem')
  .nullable()
  .meta({ description: 'The problem that underlies the incident.' })
const ChangeId = idSchema('change')
  .nullable()
  .meta({ description: 'The change that is intended to resolve the incident.' })
const CausedByChangeId = idSchema('change')
  .nullable()
  .meta({ description: 'The change that caused the incident.' })
const CommentBody = z.string().trim().min(1).max(20_000)
const ResolutionNotes = z.string().trim().min(1).max(10_000).meta({ example: 'Raised the pool limit.' })
const Reason = z.string().trim().min(1).max(2_000)
const ParentId = idSchema('incident')
  .nullable()
  .meta({
    description:
      'Parent incident; only one level is possible. Unless it has ended, the incident is put on hold, resumed, ' +
      'resolved and reopened with its parent.',
  })
const PostIncidentReview = z.string().trim().min(1).max(20_000).nullable().meta({
  description: 'Lessons learned from a major incident. A major incident cannot be closed without them.',
})
const At = z.iso.datetime({ precision: 3 })

/** An incident as contained in events: its fields, without those only an API response adds. */
export const IncidentState = z.object({
  id: idSchema('incident'),
  number: z.string().meta({
    description: 'Number of the incident. Unique in the workspace and increasing.',
    example: 'INC-42',
  }),
  title: Title,
  description: Description,
  status: IncidentStatus,
  severity: Severity,
  assigneeId: AssigneeId,
  assignmentGroup: AssignmentGroup,
  category: Category,
  ciId: CiId,
  callerId: CallerId,
  tags: Tags,
  holdReason: HoldReason.nullable().meta({ description: 'Set only while the incident is on hold.' }),
  resolutionCode: ResolutionCode.nullable(),
  resolutionNotes: z.string().nullable(),
  resolvedAt: At.nullable(),
  closedAt: At.nullable().meta({ description: 'Time at which the incident was closed or canceled.' }),
  reopenCount: z.int().min(0),
  escalationLevel: z.int().min(0).meta({ description: 'Number of escalations.' }),
  commentCount: z.int().min(0),
  // Absent in states stored before these fields were introduced.
  impact: Level.default('medium'),
  urgency: Level.default('medium'),
  priority: Priority.default('P3').meta({
    description: 'Priority by impact and urgency, unless it was overridden.',
  }),
  priorityOverride: z
    .object({ priority: Priority, reason: z.string(), by: Actor, at: At })
    .nullable()
    .default(null),
  parentId: ParentId.default(null),
  childCount: z.int().min(0).default(0),
  followsParent: z.boolean().default(false).meta({
    description:
      'Whether the hold or resolution of the incident comes from its parent and ends with that of the parent.',
  }),
  problemId: ProblemId.default(null),
  changeId: ChangeId.default(null),
  causedByChangeId: CausedByChangeId.default(null),
  watcherIds: z.array(Reference).default([]).meta({ description: 'Users who follow the incident.' }),
  majorState: MajorState.default('none'),
  majorProposal: z
    .object({ by: Actor, userId: z.string(), reason: z.string().nullable(), at: At })
    .nullable()
    .default(null)
    .meta({ description: 'The last proposal to treat the incident as a major incident.' }),
  postIncidentReview: PostIncidentReview.default(null),
  dedupKey: z
    .string()
    .nullable()
    .default(null)
    .meta({ description: 'Dedup key of the alert that opened the incident.' }),
  alertCount: z.int().min(0).default(0).meta({
    description: 'Number of alerts with the dedup key, including the one that opened the incident.',
  }),
  lastAlertAt: At.nullable().default(null),
  channel: Channel.default(null),
  followsUpOn: idSchema('incident').nullable().default(null).meta({
    description:
      'The ended incident that this one follows up on, because its caller commented after its end.',
  }),
  followUpId: idSchema('incident').nullable().default(null).meta({
    description: 'The incident that was opened because the caller commented after the end of this one.',
  }),
  createdBy: Actor,
  createdAt: At,
  updatedAt: At,
})
export type IncidentState = z.infer<typeof IncidentState>

export const Incident = IncidentState.extend({
  version: ResourceVersion,
  allowedActions: allowedActionsSchema(
    IncidentAction,
    requireForAll(incidentActions, 'itsm:write'),
    'the present status',
  ),
  allowedMajorActions: allowedActionsSchema(
    MajorAction,
    requireForAll(majorActions, 'itsm:approve', { propose: 'itsm:write' }),
    'the present major state',
  ),
}).meta({ id: 'Incident' })
export type Incident = z.infer<typeof Incident>

export const CommentVisibility = z.enum(['public', 'internal']).meta({
  id: 'CommentVisibility',
  description: '`public`: visible to the caller. `internal`: a work note for agents.',
})

export const IncidentComment = z
  .object({
    id: idSchema('comment'),
    incidentId: idSchema('incident'),
    body: z.string(),
    visibility: CommentVisibility,
    author: Actor,
    // Absent in comments written before this field was introduced.
    userId: z.string().nullable().default(null).meta({
      description:
        'The user who wrote the comment, even if an API key was used. `null` for comments of the platform.',
    }),
    createdAt: At,
    updatedAt: At,
  })
  .meta({ id: 'IncidentComment' })
export type IncidentComment = z.infer<typeof IncidentComment>

const bySeverity = 'derived from the severity.'

export const NewIncident = z
  .strictObject({
    title: Title,
    description: Description.optional(),
    severity: Severity.default('medium').meta({ description: 'Severity of the incident.' }),
    impact: Impact.optional().meta({ description: `Extent of the effect. Default: ${bySeverity}` }),
    urgency: Urgency.optional().meta({
      description: `How soon the incident must be resolved. Default: ${bySeverity}`,
    }),
    assigneeId: AssigneeId.optional(),
    assignmentGroup: AssignmentGroup.optional(),
    channel: Channel.optional().meta({
      description:
        'Channel through which the incident was reported. Default with a `dedupKey`: `monitoring`.',
    }),
    category: Category.optional(),
    ciId: CiId.optional(),
    callerId: CallerId.optional(),
    tags: Tags.default([]),
    parentId: ParentId.optional(),
    watcherIds: WatcherIds.default([]),
    problemId: ProblemId.optional(),
    changeId: ChangeId.optional(),
    causedByChangeId: CausedByChangeId.optional(),
    dedupKey: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .meta({
        description:
          'Dedup key of an alert source. While an incident with this key is open, the alert is counted there and no ' +
          'other incident is opened.',
        example: 'prometheus/checkout-5xx',
      }),
  })
  .meta({
    id: 'NewIncident',
    example: {
      title: 'Checkout answers 502',
      severity: 'high',
      assignmentGroup: 'payments',
      tags: ['checkout'],
    },
  })
export type NewIncident = z.infer<typeof NewIncident>

export const IncidentPatch = z
  .strictObject({
    title: Title,
    description: Description,
    status: IncidentStatus,
    severity: Severity,
    impact: Impact,
    urgency: Urgency,
    priorityOverride: z
      .strictObject({ priority: Priority, reason: Reason })
      .nullable()
      .meta({ description: 'Overrides the priority by impact and urgency. `null` removes the override.' }),
    assigneeId: AssigneeId,
    assignmentGroup: AssignmentGroup,
    channel: Channel,
    category: Category,
    ciId: CiId,
    callerId: CallerId,
    tags: Tags,
    watcherIds: WatcherIds,
    problemId: ProblemId,
    changeId: ChangeId,
    causedByChangeId: CausedByChangeId,
    holdReason: HoldReason.meta({ description: 'Required with `status: on_hold`.' }),
    comment: CommentBody.meta({
      description:
        'Public comment that states the awaited input. Only allowed with a `holdReason`; required with ' +
        '`awaiting_caller`.',
    }),
    resolutionCode: ResolutionCode,
    resolutionNotes: ResolutionNotes,
    parentId: ParentId.meta({ description: '`null` detaches the incident from its parent.' }),
    postIncidentReview: PostIncidentReview.meta({
      description: 'Can be written while the incident is resolved.',
    }),
  })
  .partial()
  .meta({ id: 'IncidentPatch', example: { assignmentGroup: 'payments', severity: 'critical' } })
export type IncidentPatch = z.infer<typeof IncidentPatch>

export const ResolveIncident = z
  .strictObject({ resolutionCode: ResolutionCode.optional(), resolutionNotes: ResolutionNotes.optional() })
  .meta({
    id: 'ResolveIncident',
    example: { resolutionCode: 'fixed', resolutionNotes: 'Raised the pool limit.' },
  })
export type ResolveIncident = z.infer<typeof ResolveIncident>

export const EscalateIncident = z
  .strictObject({
    severity: Severity.optional().meta({ description: 'Must be more severe than the current one.' }),
    assignmentGroup: Reference.optional().meta({ description: 'Must differ from the current team.' }),
    escalateTo: Reference.optional().meta({
      description:
        'A manager to notify, who follows the incident from then on. The assignment does not change.',
    }),
    reason: Reason.optional(),
  })
  .meta({ id: 'EscalateIncident', example: { severity: 'critical', reason: 'The whole shop is affected.' } })
export type EscalateIncident = z.infer<typeof EscalateIncident>

export const ReopenIncident = z
  .strictObject({ reason: Reason.optional() })
  .meta({ id: 'ReopenIncident', example: { reason: 'It happens again.' } })
export type ReopenIncident = z.infer<typeof ReopenIncident>

export const DecideMajor = z
  .strictObject({ reason: Reason.optional() })
  .meta({ id: 'DecideMajor', example: { reason: 'Customers cannot pay.' } })

export const NewIncidentComment = z
  .strictObject({
    body: CommentBody,
    visibility: CommentVisibility.default('public').meta({
      description: '`internal` makes the comment a work note.',
    }),
  })
  .meta({ id: 'NewIncidentComment', example: { body: 'Looking at it.', visibility: 'internal' } })

export const EscalationCause = z.enum(['severity_raised', 'group_reassigned', 'raised_to_person']).meta({
  description: '`group_reassigned` is a functional escalation, `raised_to_person` a hierarchical one.',
})
export type EscalationCause = z.infer<typeof EscalationCause>

/** Cause of an incident's transition that was not made by an agent. */
export const IncidentCause = z.enum(['caller', 'parent', 'problem', 'change', 'auto_close', 'sla']).meta({
  description:
    '`caller`: a comment of the caller resumed or reopened the incident, or the caller resolved, reopened, ' +
    'closed or canceled it. `parent`, `problem`, `change`: the incident follows that record. `auto_close`: the ' +
    'days until automatic closure were over. `sla`: an escalation rule of an SLA policy applied. Absent in all ' +
    'other cases.',
})
export type IncidentCause = z.infer<typeof IncidentCause>
const cause = { cause: IncidentCause.optional() }

/** The timer threshold at which an escalation rule changed an incident. */
export const ReachedThreshold = z.object({
  timerId: idSchema('slaTimer'),
  policyId: idSchema('slaPolicy'),
  policyName: z.string(),
  percent: z.int().min(1).max(100).meta({ description: 'Percentage of the goal; 100 is the breach.' }),
})
export type ReachedThreshold = z.infer<typeof ReachedThreshold>
const threshold = {
  ...cause,
  sla: ReachedThreshold.optional().meta({
    description: 'With cause `sla`: the SLA timer and the threshold it reached.',
  }),
}

const incidentEvent = <Extras extends z.ZodRawShape = Record<never, never>>(
  description: string,
  extras?: Extras,
) => resourceEvent(IncidentState, description, extras)

export const itsmEvents = {
  'incident.created': incidentEvent('An incident was opened.'),
  'incident.updated': incidentEvent(
    'Fields or status changed in a way no other incident event tells.',
    threshold,
  ),
  'incident.assigned': incidentEvent(
    'A user was made responsible. Work starts if the incident was open.',
    threshold,
  ),
  'incident.escalated': incidentEvent(
    'The severity was raised, the team reassigned, or a manager was notified.',
    {
      causes: z.array(EscalationCause).min(1),
      reason: z.string().nullable(),
      // Absent in events written before these fields were introduced.
      level: z.int().min(1).optional().meta({ description: 'Number of escalations, including this one.' }),
      escalatedTo: z
        .string()
        .nullable()
        .optional()
        .meta({ description: 'The user to whom the incident was escalated.' }),
      ...threshold,
    },
  ),
  'incident.resolved': incidentEvent('Service is restored; the caller may still reopen.', cause),
  'incident.closed': incidentEvent('The incident reached its end.', {
    outcome: z.enum(['closed', 'canceled']),
    ...cause,
  }),
  'incident.reopened': incidentEvent('A resolved incident needs work again.', {
    reason: z.string().nullable(),
    ...cause,
  }),
  'incident.major_changed': incidentEvent('It was decided on the incident being a major one.', {
    from: MajorState,
    to: MajorState,
    reason: z.string().nullable(),
  }),
  'incident.comment_added': incidentEvent('A comment or a work note was added.', {
    comment: IncidentComment,
    ...cause,
  }),
} satisfies Record<string, EventDefinition>
export type ItsmEventType = keyof typeof itsmEvents
