import { z } from 'zod'
import { Filter } from '../core/filter.js'
import { idSchema } from '../core/ids.js'
import { PermissionName } from '../core/permission-name.js'
import { Schedule } from '../core/schedule.js'
import { ShownHeader } from '../core/shown-header.js'
import { TopicName } from '../dispatcher/topics.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { JsonValue } from '../json/json-value.js'
import { StepRetry, Steps } from './workflow-steps.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)
const Description = z.string().max(10_000)
const Expression = z.string().min(1).max(10_000)

/** Every run can also be started manually, whatever its workflow's trigger. */
const ManualTrigger = z.strictObject({ type: z.literal('manual') })
const EventTrigger = z.strictObject({
  type: z.literal('event'),
  events: z
    .array(z.string().min(1).max(100))
    .min(1)
    .max(50)
    .meta({ description: 'Types and patterns as webhooks have them.', example: ['incident.created'] }),
  filter: Filter.optional().meta({ description: 'Over the body a webhook gets, such as `data.severity`.' }),
})
const EventBusTrigger = z.strictObject({
  type: z.literal('event_bus'),
  topic: TopicName,
  eventType: z.string().min(1).max(200).optional(),
  filter: Filter.optional().meta({ description: 'Over the event, such as `payload.amount`.' }),
})
const ScheduleTrigger = z.strictObject({
  type: z.literal('schedule'),
  schedule: Schedule,
  input: JsonValue.optional(),
})
const WebhookTrigger = z.strictObject({
  type: z.literal('webhook'),
  headers: z
    .array(ShownHeader)
    .max(20)
    .optional()
    .meta({
      description:
        'Further headers that `event.headers` has. Content-Type, User-Agent and those by which senders ' +
        'name an event and its repetition are there anyway.',
    }),
  body: z
    .enum(['parsed', 'raw'])
    .optional()
    .meta({
      description:
        '`parsed`, unless given: JSON as it is, a form by its fields, anything else as text. `raw`: the text as it came. What is ' +
        'no text is base64, and `event.encoding` says so.',
    }),
  signature: z
    .strictObject({
      secret: z.string().min(1).max(100).meta({ description: 'Name of a secret.' }),
      header: z.string().min(1).max(100).default('X-Service-Signature-256'),
      prefix: z.string().max(20).default('sha256=').meta({ description: 'Before the hex digits.' }),
    })
    .optional()
    .meta({ description: 'HMAC-SHA256 of the raw body; a call without a valid one is refused with 401.' }),
})

export const WorkflowTrigger = z
  .discriminatedUnion('type', [ManualTrigger, EventTrigger, EventBusTrigger, ScheduleTrigger, WebhookTrigger])
  .meta({ id: 'WorkflowTrigger' })
export type WorkflowTrigger = z.infer<typeof WorkflowTrigger>

const Concurrency = z.strictObject({
  key: Expression.optional().meta({ description: 'Runs of one key share the limit; all runs without.' }),
  limit: z.int().min(1).max(1_000),
  whenFull: z.enum(['queue', 'skip', 'cancel_oldest']).default('queue'),
})

/**
 * Definition of a workflow. Expressions see `event`, `input`, `trigger`, `run`, `steps`, and `item` and `index` in a
 * `for_each`.
 */
export const WorkflowDefinition = z
  .strictObject({
    trigger: WorkflowTrigger.default({ type: 'manual' }),
    input: z
      .record(z.string(), JsonValue)
      .optional()
      .meta({ description: 'JSON Schema of what a run is started with.' }),
    steps: Steps,
    output: JsonValue.optional().meta({ description: 'Of the run; that of its last step without.' }),
    onFailure: Steps.optional().meta({ description: 'Run when the run has failed; `failure` says why.' }),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(365 * 86_400)
      .default(30 * 86_400)
      .meta({ description: 'The run fails when it takes longer.' }),
    concurrency: Concurrency.optional(),
    retry: StepRetry.optional().meta({ description: 'Of the steps that say nothing else.' }),
    permissions: z
      .array(PermissionName)
      .max(100)
      .optional()
      .meta({
        description:
          'Permissions its steps need in addition to those of their kinds and operations, as where an operation asks for more by ' +
          'what its body says. Its owner must hold them, and its runs act by no others.',
      }),
  })
  .meta({ id: 'WorkflowDefinition' })
export type WorkflowDefinition = z.infer<typeof WorkflowDefinition>

export const WorkflowStatus = z.enum(['inactive', 'active', 'archived'])
export type WorkflowStatus = z.infer<typeof WorkflowStatus>

/** A workflow as contained in events: without definitions, which may be large. */
export const WorkflowState = z.object({
  id: idSchema('workflow'),
  name: Name,
  description: Description,
  status: WorkflowStatus,
  publishedVersion: z.int().min(1).nullable().meta({ description: 'The one that new runs are pinned to.' }),
  latestVersion: z.int().min(0),
  draftRevision: z.int().min(1).meta({ description: 'Counts the changes of the draft.' }),
  draftChanged: z.boolean().meta({ description: 'Whether the draft says something else than that version.' }),
  triggerType: z.string().nullable(),
  ownerId: z.string().nullable().meta({
    description:
      'Who last published, activated or rolled back to that version: runs do no more than they may.',
  }),
  deactivatedReason: z.enum(['user', 'owner_rights']).nullable().meta({
    description:
      '`owner_rights`: its owner may no longer do what it needs, so it is not started by hand either.',
  }),
  createdAt: At,
  updatedAt: At,
})
export type WorkflowState = z.infer<typeof WorkflowState>

export const RunStatus = z.enum([
  'queued',
  'running',
  'waiting',
  'paused',
  'completed',
  'failed',
  'cancelled',
  'dead',
])
export type RunStatus = z.infer<typeof RunStatus>

/** Actions on a run; `resume` decides on an approval it waits for. */
export const runActions = ['cancel', 'retry', 'resume'] as const
export const RunAction = z.enum(runActions).meta({ id: 'RunAction' })
export type RunAction = z.infer<typeof RunAction>

export const RunError = z
  .object({
    code: z.string(),
    message: z.string(),
    step: z
      .string()
      .nullable()
      .meta({ description: 'The place of the step that failed, such as `notify[3]`.' }),
    details: JsonValue.optional(),
  })
  .meta({ id: 'RunError' })
export type RunError = z.infer<typeof RunError>

/** A run as contained in events: without inputs and outputs, which may be large or secret. */
export const RunState = z.object({
  id: idSchema('run'),
  workflowId: idSchema('workflow'),
  workflowName: z.string(),
  workflowVersion: z.int().min(0).meta({ description: '0 for a test of the draft.' }),
  status: RunStatus,
  triggerType: z.string(),
  parentRunId: idSchema('run').nullable(),
  attempt: z.int().min(1).meta({ description: 'Grows with every retry.' }),
  error: RunError.nullable(),
  queuedAt: At,
  startedAt: At.nullable(),
  endedAt: At.nullable(),
})
export type RunState = z.infer<typeof RunState>

const workflowEvent = (description: string, extras: z.ZodRawShape = {}) =>
  resourceEvent(WorkflowState, description, extras)
const runEvent = (description: string) => resourceEvent(RunState, description)

/** The approval an approver is notified of. */
export const ApprovalNotice = z.object({
  step: z.string().meta({ description: 'Its place, as in the steps of the run: `ask`, or `ask[2]`.' }),
  title: z.string(),
  users: z.array(z.string()).meta({ description: 'Who may decide and has not yet, by id.' }),
  roles: z.array(z.string()).meta({ description: 'Members of these roles may decide, too.' }),
  dueAt: At.nullable().meta({ description: 'When it expires.' }),
})
export type ApprovalNotice = z.infer<typeof ApprovalNotice>
const approvalEvent = (description: string) =>
  resourceEvent(RunState, description, { approval: ApprovalNotice })

export const workflowEvents = {
  'workflow.created': workflowEvent('A workflow was made.'),
  'workflow.updated': workflowEvent('Its name, its description or its draft was changed.'),
  'workflow.published': workflowEvent('The draft became a version, which new runs are pinned to.', {
    number: z.int().min(1),
  }),
  'workflow.rolled_back': workflowEvent('New runs are pinned to another version again.', {
    from: z.int().min(1).nullable().meta({ description: 'The version before.' }),
  }),
  'workflow.activated': workflowEvent('Its trigger starts runs.'),
  'workflow.deactivated': workflowEvent('Its trigger starts no more runs.', {
    reason: z.enum(['user', 'owner_rights']),
    missing: z.array(z.string()).optional().meta({ description: 'Permissions that its owner lost.' }),
  }),
  'workflow.archived': workflowEvent('It is no longer shown or run; its runs stay.'),
  'workflow.hook_rotated': workflowEvent('Its inbound webhook has another address.'),
  'workflow.run_started': runEvent('A run left the queue.'),
  'workflow.run_completed': runEvent('A run came to its end.'),
  'workflow.run_failed': runEvent('A step failed permanently, or the run took too long.'),
  'workflow.run_paused': runEvent('A run waits for an approval.'),
  'workflow.approval_requested': approvalEvent('An approval was requested, and its approvers are notified.'),
  'workflow.approval_reminded': approvalEvent('Approvers who have not decided are notified again.'),
  'workflow.run_resumed': runEvent('A run goes on after an approval.'),
  'workflow.run_cancelled': runEvent('A run was cancelled.'),
  'workflow.run_retried': runEvent('A run was started again from one of its steps.'),
  'workflow.run_dead': runEvent(
    'A run cannot be carried on: its rights are gone, or it stopped its worker again and again.',
  ),
} satisfies Record<string, EventDefinition>
