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
    .meta({
      description: 'Event types and patterns, in the format of webhooks.',
      example: ['incident.created'],
    }),
  filter: Filter.optional().meta({
    description: 'Conditions over the webhook body of the event, such as `data.severity`.',
  }),
})
const EventBusTrigger = z.strictObject({
  type: z.literal('event_bus'),
  topic: TopicName,
  eventType: z.string().min(1).max(200).optional(),
  filter: Filter.optional().meta({ description: 'Conditions over the event, such as `payload.amount`.' }),
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
        'Additional headers to include in `event.headers`. Content-Type, User-Agent and the headers by which senders ' +
        'identify an event and its repetition are always included.',
    }),
  body: z
    .enum(['parsed', 'raw'])
    .optional()
    .meta({
      description:
        '`parsed` (the default): JSON as a value, a form as an object of its fields, anything else as text. `raw`: ' +
        'the unchanged text. A body that is not text is encoded in base64, as stated in `event.encoding`.',
    }),
  signature: z
    .strictObject({
      secret: z.string().min(1).max(100).meta({ description: 'Name of the secret for the signature.' }),
      header: z.string().min(1).max(100).default('X-Service-Signature-256'),
      prefix: z
        .string()
        .max(20)
        .default('sha256=')
        .meta({ description: 'Text before the hexadecimal digits of the signature.' }),
    })
    .optional()
    .meta({
      description: 'HMAC-SHA256 of the raw body. A call without a valid signature is refused with 401.',
    }),
})

export const WorkflowTrigger = z
  .discriminatedUnion('type', [ManualTrigger, EventTrigger, EventBusTrigger, ScheduleTrigger, WebhookTrigger])
  .meta({ id: 'WorkflowTrigger' })
export type WorkflowTrigger = z.infer<typeof WorkflowTrigger>

const Concurrency = z.strictObject({
  key: Expression.optional().meta({
    description: 'Runs with the same key share the limit. If omitted, all runs share it.',
  }),
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
      .meta({ description: 'JSON Schema of the input of a run.' }),
    steps: Steps,
    output: JsonValue.optional().meta({
      description: 'Output of the run. Default: the output of its last step.',
    }),
    onFailure: Steps.optional().meta({
      description: 'Steps to run after the run has failed; `failure` contains the reason.',
    }),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(365 * 86_400)
      .default(30 * 86_400)
      .meta({ description: 'Maximum duration of a run in seconds. A run that exceeds it fails.' }),
    concurrency: Concurrency.optional(),
    retry: StepRetry.optional().meta({ description: 'Retries of steps that do not define their own.' }),
    permissions: z
      .array(PermissionName)
      .max(100)
      .optional()
      .meta({
        description:
          'Permissions that the steps require in addition to those of their types and operations, for example if an ' +
          'operation requires more permissions for a certain body. The owner must have all required permissions, and ' +
          'the runs act with no others.',
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
  publishedVersion: z.int().min(1).nullable().meta({ description: 'Version to which new runs are pinned.' }),
  latestVersion: z.int().min(0),
  draftRevision: z.int().min(1).meta({ description: 'Revision of the draft, increased by every change.' }),
  draftChanged: z.boolean().meta({ description: 'Whether the draft differs from the published version.' }),
  triggerType: z.string().nullable(),
  ownerId: z
    .string()
    .nullable()
    .meta({
      description:
        'User who last published or activated the workflow, or rolled it back to the published version. The runs ' +
        'have at most the rights of this user.',
    }),
  deactivatedReason: z
    .enum(['user', 'owner_rights'])
    .nullable()
    .meta({
      description:
        '`owner_rights`: the owner no longer has the rights that the workflow requires, so the workflow cannot be ' +
        'started manually either.',
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
    step: z.string().nullable().meta({ description: 'Place of the failed step, such as `notify[3]`.' }),
    details: JsonValue.optional(),
  })
  .meta({ id: 'RunError' })
export type RunError = z.infer<typeof RunError>

/** A run as contained in events: without inputs and outputs, which may be large or secret. */
export const RunState = z.object({
  id: idSchema('run'),
  workflowId: idSchema('workflow'),
  workflowName: z.string(),
  workflowVersion: z
    .int()
    .min(0)
    .meta({ description: 'Version of the workflow; 0 for a test of the draft.' }),
  status: RunStatus,
  triggerType: z.string(),
  parentRunId: idSchema('run').nullable(),
  attempt: z.int().min(1).meta({ description: 'Attempt of the run; increases with every retry.' }),
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
  step: z.string().meta({ description: 'Place of the step, as in the steps of the run: `ask` or `ask[2]`.' }),
  title: z.string(),
  users: z
    .array(z.string())
    .meta({ description: 'Ids of the users who may decide and have not decided yet.' }),
  roles: z.array(z.string()).meta({ description: 'Roles whose members may decide as well.' }),
  dueAt: At.nullable().meta({ description: 'Time at which the approval expires.' }),
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
    from: z.int().min(1).nullable().meta({ description: 'Previous version.' }),
  }),
  'workflow.activated': workflowEvent('Its trigger starts runs.'),
  'workflow.deactivated': workflowEvent('Its trigger starts no more runs.', {
    reason: z.enum(['user', 'owner_rights']),
    missing: z.array(z.string()).optional().meta({ description: 'Permissions that the owner has lost.' }),
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
