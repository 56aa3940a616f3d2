import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Actor } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { allowedActionsSchema, requireForAll } from './allowed-actions.js'
import { Level, Priority } from './priority.js'

export const incidentStatuses = ['open', 'in_progress', 'on_hold', 'resolved', 'closed', 'canceled'] as const
export const IncidentStatus = z.enum(incidentStatuses).meta({ id: 'IncidentStatus' })
export type IncidentStatus = z.infer<typeof IncidentStatus>

/** In descending order of severity. */
export const severities = ['critical', 'high', 'medium', 'low'] as const
export const Severity = z.enum(severities).meta({ id: 'Severity' })
export type Severity = z.infer<typeof Severity>

// No component id, like ResolutionCode: OpenAPI components of nullable enums become nullable everywhere.
export const HoldReason = z.enum([
  'awaiting_caller',
  'awaiting_change',
  'awaiting_problem',
  'awaiting_vendor',
])
export type HoldReason = z.infer<typeof HoldReason>

export const ResolutionCode = z.enum([
  'fixed',
  'workaround',
  'duplicate',
  'not_reproducible',
  'user_error',
  'no_fault_found',
  'other',
])
export type ResolutionCode = z.infer<typeof ResolutionCode>

/** Channel an incident was reported through. */
export const IncidentChannel = z.enum(['portal', 'email', 'phone', 'chat', 'walk_in', 'monitoring', 'api'])
export type IncidentChannel = z.infer<typeof IncidentChannel>

/** Status of a major incident: proposed, then accepted or rejected; an accepted one can be demoted. */
export const MajorState = z.enum(['none', 'proposed', 'accepted', 'rejected', 'demoted'])
export type MajorState = z.infer<typeof MajorState>

/** Decisions about whether an incident is a major one; its major state determines which of them apply. */
export const majorActions = ['propose', 'accept', 'reject', 'demote'] as const
export const MajorAction = z.enum(majorActions).meta({ id: 'MajorAction' })
export type MajorAction = z.infer<typeof MajorAction>

/** All actions on an incident; its status determines which of them apply. */
export const incidentActions = [
  'edit',
  'assign',
  'escalate',
  'comment',
  'start',
  'hold',
  'resume',
  'resolve',
  'reopen',
  'close',
  'cancel',
] as const
export const IncidentAction = z.enum(incidentActions).meta({ id: 'IncidentAction' })
export type IncidentAction = z.infer<typeof IncidentAction>

const Title = z.string().trim().min(1).max(200).meta({ example: 'Checkout answers 502' })
const Description = z.string().max(20_000).nullable().meta({ description: 'What is seen, in Markdown.' })
const Reference = z.string().trim().min(1).max(100)
const AssigneeId = Reference.nullable().meta({
  description: 'User who works on it.',
  example: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
})
const AssignmentGroup = Reference.nullable().meta({ description: 'Team it lies with.', example: 'payments' })
const Channel = IncidentChannel.nullable().meta({ description: 'How it came in.', example: 'phone' })
const Category = Reference.nullable().meta({ example: 'availability' })
const CiId = Reference.nullable().meta({ description: 'Configuration item affected.' })
const CallerId = Reference.nullable().meta({ description: 'Who is affected and asked for help.' })
const Tags = z
  .array(z.string().trim().min(1).max(50))
  .max(50)
  .overwrite((tags) => [...new Set(tags)])
  .meta({ description: 'Repeated ones are dropped.', example: ['checkout'] })
const Impact = Level.meta({ description: 'How much is affected.' })
const Urgency = Level.meta({ description: 'How soon it must be mended.' })
const WatcherIds = z
  .array(Reference)
  .max(100)
  .overwrite((ids) => [...new Set(ids)])
  .meta({ description: 'Users who follow it. Repeated ones are dropped.' })
const ProblemId = idSchema('problem').nullable().meta({ description: 'The problem it is an instance of.' })
const ChangeId = idSchema('change').nullable().meta({ description: 'The change that will mend it.' })
const CausedByChangeId = idSchema('change').nullable().meta({ description: 'The change that broke it.' })
const CommentBody = z.string().trim().min(1).max(20_000)
const ResolutionNotes = z.string().trim().min(1).max(10_000).meta({ example: 'Raised the pool limit.' })
const Reason = z.string().trim().min(1).max(2_000)
const ParentId = idSchema('incident')
  .nullable()
  .meta({ description: 'Incident it is part of; one level. Unless it ended, it does as its parent does.' })
const PostIncidentReview = z.string().trim().min(1).max(20_000).nullable().meta({
  description: 'What a major incident has taught; one cannot be closed without.',
})
const At = z.iso.datetime({ precision: 3 })

/** An incident as contained in events: its fields, without those only an API response adds. */
export const IncidentState = z.object({
  id: idSchema('incident'),
  number: z.string().meta({ description: 'Unique in the workspace, increasing.', example: 'INC-42' }),
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
  holdReason: HoldReason.nullable().meta({ description: 'Set exactly while on hold.' }),
  resolutionCode: ResolutionCode.nullable(),
  resolutionNotes: z.string().nullable(),
  resolvedAt: At.nullable(),
  closedAt: At.nullable().meta({ description: 'When it was closed or canceled.' }),
  reopenCount: z.int().min(0),
  escalationLevel: z.int().min(0).meta({ description: 'How often it was escalated.' }),
  commentCount: z.int().min(0),
  // Absent in states stored before these fields were introduced.
  impact: Level.default('medium'),
  urgency: Level.default('medium'),
  priority: Priority.default('P3').meta({ description: 'By impact and urgency, unless it was overridden.' }),
  priorityOverride: z
    .object({ priority: Priority, reason: z.string(), by: Actor, at: At })
    .nullable()
    .default(null),
  parentId: ParentId.default(null),
  childCount: z.int().min(0).default(0),
  followsParent: z.boolean().default(false).meta({
    description: 'Whether its hold or resolution is that of its parent, and ends with it.',
  }),
  problemId: ProblemId.default(null),
  changeId: ChangeId.default(null),
  causedByChangeId: CausedByChangeId.default(null),
  watcherIds: z.array(Reference).default([]).meta({ description: 'Users who follow it.' }),
  majorState: MajorState.default('none'),
  majorProposal: z
    .object({ by: Actor, userId: z.string(), reason: z.string().nullable(), at: At })
    .nullable()
    .default(null)
    .meta({ description: 'The last proposal to treat it as a major incident.' }),
  postIncidentReview: PostIncidentReview.default(null),
  dedupKey: z.string().nullable().default(null).meta({ description: 'Of the alert that opened it.' }),
  alertCount: z
    .int()
    .min(0)
    .default(0)
    .meta({ description: 'Alerts with its dedup key, the one that opened it included.' }),
  lastAlertAt: At.nullable().default(null),
  channel: Channel.default(null),
  followsUpOn: idSchema('incident').nullable().default(null).meta({
    description: 'The ended incident whose caller had more to say, which has opened this one.',
  }),
  followUpId: idSchema('incident').nullable().default(null).meta({
    description: 'The incident that was opened when the caller of this one wrote after its end.',
  }),
  createdBy: Actor,
  createdAt: At,
  updatedAt: At,
})
export type IncidentState = z.infer<typeof IncidentState>

export const Incident = IncidentState.extend({
  version: z.int().positive().meta({ description: 'Also the ETag; send it as If-Match.' }),
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
  description: '`public`: the caller sees it. `internal`: a work note for agents.',
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
      description: 'The person, also where an API key wrote it. Null for what the platform wrote.',
    }),
    createdAt: At,
    updatedAt: At,
  })
  .meta({ id: 'IncidentComment' })
export type IncidentComment = z.infer<typeof IncidentComment>

const bySeverity = 'by the severity unless given.'

export const NewIncident = z
  .strictObject({
    title: Title,
    description: Description.optional(),
    severity: Severity.default('medium').meta({ description: 'How grave it is.' }),
    impact: Impact.optional().meta({ description: `How much is affected; ${bySeverity}` }),
    urgency: Urgency.optional().meta({ description: `How soon it must be mended; ${bySeverity}` }),
    assigneeId: AssigneeId.optional(),
    assignmentGroup: AssignmentGroup.optional(),
    channel: Channel.optional().meta({
      description: 'How it came in; `monitoring` with a dedupKey unless given.',
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
    dedupKey: z.string().trim().min(1).max(200).optional().meta({
      description:
        'Of an alert source. While an incident with this key is open, the alert counts there and opens no other.',
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
      .meta({ description: 'Goes before the priority by impact and urgency; null lifts it.' }),
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
      description: 'Public, and only with a `holdReason`: what is awaited. Required with `awaiting_caller`.',
    }),
    resolutionCode: ResolutionCode,
    resolutionNotes: ResolutionNotes,
    parentId: ParentId.meta({ description: 'Null detaches it.' }),
    postIncidentReview: PostIncidentReview.meta({ description: 'Written while resolved.' }),
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
    assignmentGroup: Reference.optional().meta({ description: 'Must be another team than the present one.' }),
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
    visibility: CommentVisibility.default('public').meta({ description: '`internal` makes it a work note.' }),
  })
  .meta({ id: 'NewIncidentComment', example: { body: 'Looking at it.', visibility: 'internal' } })

export const EscalationCause = z.enum(['severity_raised', 'group_reassigned', 'raised_to_person']).meta({
  description: '`group_reassigned` is functional escalation, `raised_to_person` hierarchical.',
})
export type EscalationCause = z.infer<typeof EscalationCause>

/** Cause of an incident's transition that was not made by an agent. */
export const IncidentCause = z.enum(['caller', 'parent', 'problem', 'change', 'auto_close', 'sla']).meta({
  description:
    '`caller`: their comment resumed or reopened it, or they resolved, reopened, closed or canceled it themselves. ' +
    '`parent`, `problem`, `change`: it follows that record. `auto_close`: its days were over. `sla`: an escalation ' +
    'rule of an SLA policy. Absent otherwise.',
})
export type IncidentCause = z.infer<typeof IncidentCause>
const cause = { cause: IncidentCause.optional() }

/** The timer threshold at which an escalation rule changed an incident. */
export const ReachedThreshold = z.object({
  timerId: idSchema('slaTimer'),
  policyId: idSchema('slaPolicy'),
  policyName: z.string(),
  percent: z.int().min(1).max(100).meta({ description: 'Of the goal; 100 is the breach.' }),
})
export type ReachedThreshold = z.infer<typeof ReachedThreshold>
const threshold = {
  ...cause,
  sla: ReachedThreshold.optional().meta({ description: 'With cause `sla`: the clock, and how far it was.' }),
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
      level: z
        .int()
        .min(1)
        .optional()
        .meta({ description: 'How often it was escalated, this one included.' }),
      escalatedTo: z.string().nullable().optional().meta({ description: 'The person it was raised to.' }),
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
