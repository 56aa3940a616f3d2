import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { MomentOrDay } from '../core/moment.js'
import { allowedActionsSchema, requireForAll } from '../itsm/allowed-actions.js'
import { JsonValue } from '../json/json-value.js'
import { RunAction, RunState, RunStatus, runActions } from './workflows.js'

const At = z.iso.datetime({ precision: 3 })

/** A run in lists. */
export const Run = RunState.extend({
  version: z.int().min(1).meta({
    description: 'Version number, also returned as the `ETag`. Increases with every change in the run.',
  }),
  allowedActions: allowedActionsSchema(
    RunAction,
    requireForAll(runActions, 'runs:manage', { resume: null }),
    'the present status',
  ),
}).meta({ id: 'Run' })
export type Run = z.infer<typeof Run>

/** Maximum seconds a response may wait for the end of a run it has started. */
export const maxRunWaitSeconds = 20

/** A value that must be read separately because it is large. */
const LargeValue = z
  .object({
    href: z
      .string()
      .meta({ description: 'Path relative to the address of the API.', example: '/runs/run_01…/values/7' }),
    bytes: z.int().meta({ description: 'Approximate size of the value as JSON, in bytes.' }),
  })
  .meta({ id: 'LargeValue' })

/** A value of a run, or a reference to it. */
const valueFields = (label: string) => ({
  value: JsonValue.meta({ description: `${label}; null if it is large, omitted or absent.` }),
  large: LargeValue.nullable(),
  omitted: z
    .literal(true)
    .optional()
    .meta({
      description:
        'Present if the value of an ended run is omitted because the workspace had reached its limit ' +
        '`traceBytesPerDay`.',
    }),
})
export const RunValue = z.object(valueFields('The value')).meta({ id: 'RunValue' })
export type RunValue = z.infer<typeof RunValue>

const RunStepError = z
  .object({ code: z.string(), message: z.string(), details: JsonValue.optional(), retryable: z.boolean() })
  .meta({ id: 'RunStepError' })

const RunStepDecision = z
  .object({ by: z.string(), decision: z.enum(['approve', 'reject']), comment: z.string().nullable(), at: At })
  .meta({ id: 'RunStepDecision' })

/** What a step is waiting for. */
export const RunWaiting = z
  .object({
    for: z.enum(['time', 'event', 'approval', 'run']),
    dueAt: At.nullable(),
    types: z
      .array(z.string())
      .optional()
      .meta({ description: 'Types of the event for which the step waits.' }),
    runId: z.string().optional(),
    approval: z
      .object({
        title: z.string(),
        message: z.string(),
        data: JsonValue,
        users: z.array(z.string()),
        roles: z.array(z.string()),
        quorum: z.int(),
      })
      .optional(),
  })
  .meta({ id: 'RunWaiting' })
export type RunWaiting = z.infer<typeof RunWaiting>

const RunStepStatus = z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled'])

/** A step as run at one place; steps in a `for_each` run once per item, and again when the run is retried. */
export const RunStep = z
  .object({
    place: z.string().meta({
      description: 'Place of the step: its id, and within a `for_each` also the index of the item.',
      example: 'notify[3]',
    }),
    id: z.string(),
    name: z.string().nullable(),
    type: z.string(),
    parent: z.string().nullable().meta({ description: 'Place of the step that contains this step.' }),
    runAttempt: z.int().min(1).meta({ description: 'Attempt of the run; increases with every retry.' }),
    status: RunStepStatus,
    startedAt: At,
    endedAt: At.nullable(),
    durationMs: z.number().nullable(),
    input: RunValue,
    output: RunValue,
    error: RunStepError.nullable(),
    attempts: z
      .array(
        z.object({
          number: z.int().min(1),
          endedAt: At,
          error: RunStepError,
          retryAt: At.nullable(),
        }),
      )
      .meta({ description: 'Failed attempts.' }),
    waiting: RunWaiting.nullable(),
    decisions: z.array(RunStepDecision),
    chosen: z.string().nullable().meta({ description: 'Alternative of a branch or switch that was run.' }),
    itemCount: z.int().nullable(),
    childRunId: z.string().nullable(),
  })
  .meta({ id: 'RunStep' })
export type RunStep = z.infer<typeof RunStep>

/** A run with its values and its first 200 steps. */
export const RunDetail = Run.extend({
  trigger: z.object({ type: z.string(), id: z.string().nullable(), at: At }),
  input: RunValue,
  event: RunValue,
  output: RunValue,
  nextDueAt: At.nullable().meta({ description: 'Latest time at which the run continues by itself.' }),
  steps: z.array(RunStep).meta({ description: 'First 200 steps, in the order in which they began.' }),
  nextSteps: z.string().nullable().meta({
    description: 'Value for `after` of `GET /runs/:id/steps`, if there are more steps.',
  }),
}).meta({ id: 'RunDetail' })
export type RunDetail = z.infer<typeof RunDetail>

export const CancelRun = z
  .strictObject({ reason: z.string().trim().min(1).max(1_000).optional() })
  .meta({ id: 'CancelRun', example: { reason: 'Started by mistake' } })

export const RetryRun = z
  .strictObject({
    from: z
      .string()
      .max(100)
      .optional()
      .meta({
        description:
          'Id of a top-level step from which the run is repeated: this step and all following steps run again. ' +
          'Default: the failed and interrupted steps.',
      }),
    newKey: z
      .boolean()
      .default(false)
      .meta({
        description:
          'By default, a step whose outcome is unknown is repeated with its recorded input and its idempotency key, by ' +
          'which the target recognises the repetition. With `true`, the input is evaluated again and the step has a ' +
          'new key; an effect that occurred despite the unknown outcome then occurs twice.',
      }),
  })
  .meta({ id: 'RetryRun', example: { from: 'notify' } })
export type RetryRun = z.output<typeof RetryRun>

export const ResumeRun = z
  .strictObject({
    step: z
      .string()
      .max(200)
      .optional()
      .meta({ description: 'Place of the step, if several steps wait for approvals.' }),
    decision: z.enum(['approve', 'reject']),
    comment: z.string().trim().min(1).max(2_000).optional(),
  })
  .meta({ id: 'ResumeRun', example: { decision: 'approve', comment: 'Fine with me' } })

/** A step of a run that waits for the caller's decision. */
export const PendingApproval = z
  .object({
    runId: idSchema('run'),
    workflowId: idSchema('workflow'),
    workflowName: z.string(),
    queuedAt: At,
  })
  .meta({ id: 'PendingApproval' })
export type PendingApproval = z.infer<typeof PendingApproval>

export const RunFilters = z.object({
  status: RunStatus.optional(),
  triggerType: z.string().max(50).optional(),
  triggerId: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description:
        'Id of the trigger, as in `trigger.id` of a run: of an event, a message of a topic, a call of a hook, or the ' +
        'run whose step started the run. For runs of a schedule, `trigger.id` is the scheduled instant; use `from` ' +
        'and `to` to find them.',
    }),
  workflowId: z.string().max(100).optional(),
  from: MomentOrDay.optional().meta({ description: 'Queued at or after this instant.' }),
  to: MomentOrDay.optional().meta({ description: 'Queued before this instant.' }),
})
export type RunFilters = z.output<typeof RunFilters>
