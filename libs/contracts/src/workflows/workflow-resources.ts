import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Environment } from '../core/principal.js'
import { allowedActionsSchema, requireForAll } from '../itsm/allowed-actions.js'
import { JsonValue } from '../json/json-value.js'
import { RunError, RunStatus, WorkflowDefinition, WorkflowState } from './workflows.js'

const At = z.iso.datetime({ precision: 3 })
const Version = z.int().min(1)

export const workflowActions = [
  'update',
  'publish',
  'activate',
  'deactivate',
  'rollback',
  'trigger',
  'archive',
] as const
export const WorkflowAction = z.enum(workflowActions).meta({ id: 'WorkflowAction' })
export type WorkflowAction = z.infer<typeof WorkflowAction>

/** A problem that prevents a draft from being published. */
export const WorkflowProblem = z
  .object({
    step: z
      .string()
      .nullable()
      .meta({ description: 'Id of the step that contains the problem.', example: 'notify' }),
    path: z
      .string()
      .meta({ description: 'JSON pointer into the definition.', example: '/steps/1/body/assignee' }),
    code: z.string().meta({ example: 'unknown_step' }),
    message: z.string(),
  })
  .meta({ id: 'WorkflowProblem' })
export type WorkflowProblem = z.infer<typeof WorkflowProblem>

/** A workflow in lists. */
export const Workflow = WorkflowState.extend({
  version: z
    .int()
    .min(1)
    .meta({ description: 'Version number, also returned as the `ETag`. Send it as `If-Match`.' }),
  allowedActions: allowedActionsSchema(
    WorkflowAction,
    requireForAll(workflowActions, 'workflows:write', { trigger: 'workflows:run' }),
    'the present status',
  ),
}).meta({ id: 'Workflow' })
export type Workflow = z.infer<typeof Workflow>

export const WorkflowWithDraft = Workflow.extend({
  draft: WorkflowDefinition,
  problems: z
    .array(WorkflowProblem)
    .meta({ description: 'Problems that prevent the publication of the draft.' }),
}).meta({ id: 'WorkflowWithDraft' })
export type WorkflowWithDraft = z.infer<typeof WorkflowWithDraft>

const exampleDefinition = {
  trigger: { type: 'event', events: ['incident.created'], filter: { 'data.severity': 'critical' } },
  steps: [
    {
      id: 'comment',
      type: 'api',
      operation: 'addIncidentComment',
      params: { id: '{{ event.data.id }}' },
      body: { body: 'On call was notified.' },
    },
  ],
}

const Name = z.string().trim().min(1).max(200)
const Description = z.string().max(10_000)
export const NewWorkflow = z
  .strictObject({ name: Name, description: Description.default(''), definition: WorkflowDefinition })
  .meta({ id: 'NewWorkflow', example: { name: 'Notify on call', definition: exampleDefinition } })
export type NewWorkflow = z.infer<typeof NewWorkflow>

export const WorkflowPatch = z
  .strictObject({ name: Name, description: Description, definition: WorkflowDefinition })
  .partial()
  .meta({ id: 'WorkflowPatch', example: { name: 'Notify the person on call' } })
export type WorkflowPatch = z.infer<typeof WorkflowPatch>

export const PublishWorkflow = z
  .strictObject({
    note: z
      .string()
      .max(2_000)
      .default('')
      .meta({ description: 'Description of the changes in this version.' }),
    activate: z.boolean().default(false).meta({ description: 'Whether to activate the workflow as well.' }),
  })
  .meta({ id: 'PublishWorkflow', example: { note: 'Reminds after an hour' } })

export const RollbackWorkflow = z
  .strictObject({
    to: Version.meta({ description: 'Version to restore. Its triggers and steps apply to new runs.' }),
  })
  .meta({ id: 'RollbackWorkflow', example: { to: 1 } })

/** One published version, in lists. */
export const WorkflowVersion = z
  .object({
    workflowId: idSchema('workflow'),
    number: Version,
    name: Name,
    note: z.string(),
    triggerType: z.string(),
    stepCount: z.int().min(1),
    publishedAt: At,
    publishedBy: z
      .string()
      .meta({ description: 'Id of the user whose rights limit the rights of the runs.' }),
    current: z.boolean().meta({ description: 'Whether new runs are pinned to this version.' }),
  })
  .meta({ id: 'WorkflowVersion' })
export type WorkflowVersion = z.infer<typeof WorkflowVersion>

export const WorkflowVersionWithDefinition = WorkflowVersion.extend({
  definition: WorkflowDefinition,
}).meta({ id: 'WorkflowVersionWithDefinition' })

/** One value that differs between two definitions. */
export const DefinitionChange = z
  .object({
    path: z.string().meta({ description: 'JSON pointer into the definition.', example: '/steps/0/url' }),
    kind: z.enum(['added', 'removed', 'changed']),
    before: JsonValue.optional(),
    after: JsonValue.optional(),
  })
  .meta({ id: 'DefinitionChange' })
export type DefinitionChange = z.infer<typeof DefinitionChange>

export const WorkflowDiff = z
  .object({ from: Version, to: Version, changes: z.array(DefinitionChange) })
  .meta({ id: 'WorkflowDiff' })

/** URL of an inbound webhook. */
export const WorkflowHook = z
  .object({
    path: z.string().meta({
      description:
        'Path below the origin of this instance. Anyone who knows the path can start runs, unless calls are signed.',
      example: '/hooks/hk_01JABCDEFGHJKMNPQRSTVWXYZ0',
    }),
  })
  .meta({ id: 'WorkflowHook' })

/** A portable workflow: it references connectors and workflows by name. */
export const WorkflowExport = z
  .strictObject({
    format: z.literal('opsplane.workflow/1'),
    name: Name,
    description: Description,
    definition: WorkflowDefinition,
    connectors: z
      .record(idSchema('connector'), z.string())
      .default({})
      .meta({ description: 'Names of the connectors that the definition references by id.' }),
    workflows: z.record(idSchema('workflow'), z.string()).default({}),
  })
  .meta({ id: 'WorkflowExport' })
export type WorkflowExport = z.infer<typeof WorkflowExport>

export const PromoteWorkflow = z
  .strictObject({
    environment: Environment.meta({ description: 'Environment to which the published version is promoted.' }),
  })
  .meta({ id: 'PromoteWorkflow', example: { environment: 'staging' } })

export const TriggerWorkflow = z
  .strictObject({ input: JsonValue.optional() })
  .meta({ id: 'TriggerWorkflow', example: { input: { name: 'Ada' } } })

export const TestWorkflow = z
  .strictObject({
    input: JsonValue.optional(),
    event: JsonValue.optional().meta({ description: 'Value used as the event of the trigger.' }),
    pins: z
      .record(z.string(), JsonValue)
      .default({})
      .meta({ description: 'Outputs by step. A step with an entry has this output without being run.' }),
  })
  .meta({ id: 'TestWorkflow', example: { input: { name: 'Ada' }, pins: { fetch: { status: 200 } } } })

/** A started run, with its outcome if the request waited for it. */
export const TriggeredRun = z
  .object({
    runId: idSchema('run'),
    created: z.boolean().meta({ description: '`false` if the same trigger has already started this run.' }),
    ended: z.boolean(),
    status: RunStatus.nullable().meta({
      description: 'Status of the run, once the run has ended or is paused.',
    }),
    output: JsonValue.nullable(),
    error: RunError.nullable(),
  })
  .meta({ id: 'TriggeredRun' })
export type TriggeredRun = z.infer<typeof TriggeredRun>

/** A trigger that did not start a run. */
export const SkippedTrigger = z
  .object({
    triggerId: z.string().meta({ description: 'Id of the event or call, or the scheduled time.' }),
    triggerType: z.string(),
    triggeredAt: At,
    reason: z.enum(['too_deep', 'overlap']).meta({
      description:
        '`too_deep`: runs caused by runs are nested more than ten levels deep. `overlap`: the trigger was skipped by ' +
        'the overlap setting of the schedule.',
    }),
  })
  .meta({ id: 'SkippedTrigger' })
export type SkippedTrigger = z.infer<typeof SkippedTrigger>
