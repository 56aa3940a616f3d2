import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { environments } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { JsonValue } from '../json/json-value.js'

const At = z.iso.datetime({ precision: 3 })

const executionStatuses = ['running', 'completed', 'failed', 'timeout', 'cancelled'] as const
export const ExecutionStatus = z.enum(executionStatuses)
export type ExecutionStatus = z.infer<typeof ExecutionStatus>

const executionTriggers = ['workflow_node', 'scheduled_job', 'webhook', 'manual', 'api'] as const
export const ExecutionTrigger = z.enum(executionTriggers).meta({
  description:
    '`workflow_node`: a workflow step, with the id of the run. `scheduled_job`: a scheduled job, with the id of ' +
    'the job. `webhook`: an event that started a business rule, with the id of the event. `api`: a request with ' +
    'an API key, or a validation. `manual`: a request of a signed-in user, a test or a replay.',
})
export type ExecutionTrigger = z.infer<typeof ExecutionTrigger>

const executionTypes = ['workflow_action', 'business_rule', 'scheduled', 'api', 'test'] as const
export const ExecutionType = z.enum(executionTypes).meta({
  description:
    'How the artifact was run, regardless of its kind: by a workflow step, by an event or before records are ' +
    'written, by a scheduled job, by its caller, or by a test. A replay has the type of the original execution.',
})
export type ExecutionType = z.infer<typeof ExecutionType>

export const ExecutionError = z.object({
  code: z.string(),
  message: z.string(),
  stack: z
    .string()
    .meta({ description: 'Stack trace with the lines of the source, including the causes of the error.' }),
  thrown: z
    .object({ name: z.string(), code: z.string().nullable(), cause: z.string().nullable() })
    .optional()
    .meta({ description: 'Name, code and cause of the error that the code threw.' }),
})
export type ExecutionError = z.infer<typeof ExecutionError>

export const ExecutionLogEntry = z.object({
  level: z.enum(['debug', 'info', 'warn', 'error']),
  message: z.string(),
  data: JsonValue,
  ts: At,
})
export type ExecutionLogEntry = z.infer<typeof ExecutionLogEntry>

const summary = {
  id: idSchema('execution'),
  artifact_slug: z.string().max(100),
  artifact_version: z.int().min(1),
  trigger_type: ExecutionTrigger,
  trigger_id: z.string().nullable().meta({ description: 'Id of the trigger: of a run, a job or an event.' }),
  status: ExecutionStatus,
}
const outcome = {
  duration_ms: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: 'Wall-clock duration; `null` while the execution is running.' }),
  memory_peak_mb: z.int().min(0).nullable(),
  started_at: At,
  completed_at: At.nullable(),
  environment: z.enum(environments),
  workspace_id: z.string(),
  replay_of: idSchema('execution')
    .optional()
    .meta({ description: 'Id of the original execution, if this execution is a replay.' }),
}

/** Request header by which a workflow step requests the secrets of a response. Only services receive them. */
export const secretsHeader = 'x-answer-secrets'

/** One execution of an artifact: input, result and details. */
export const Execution = z
  .object({
    ...summary,
    input: JsonValue.meta({
      description:
        'Input of the execution. Values of secrets are masked as `***`, both in plain form and encoded in base64, ' +
        'hexadecimal, URLs or JSON.',
    }),
    output: JsonValue.meta({
      description:
        'Output as returned by the code in the response to an invocation; elsewhere, secrets are masked as in the ' +
        'input.',
    }),
    error: ExecutionError.nullable(),
    logs: z.array(ExecutionLogEntry),
    omitted: z
      .literal(true)
      .optional()
      .meta({
        description:
          'Present if `input` and `logs` are omitted because the workspace had reached its limit `traceBytesPerDay`. ' +
          '`output` is then omitted as well, except in the response to the caller.',
      }),
    secrets: z.array(z.string()).optional().meta({
      description:
        'Secrets contained in `output` and `error`, used to mask the run. Present only for workflow steps.',
    }),
    ...outcome,
  })
  .meta({ id: 'Execution' })
export type Execution = z.infer<typeof Execution>

const filterText = z.string().min(1).max(200).optional()

export const ExecutionsOfArtifactQuery = z.object({
  executionType: ExecutionType.optional(),
  success: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: '`true`: completed. `false`: failed or timed out.' }),
  status: ExecutionStatus.optional(),
  triggerType: ExecutionTrigger.optional(),
  triggerId: filterText,
  tableName: filterText.meta({
    description:
      'Type of a record that triggered the execution or that it touched: the slug of a table, or a kind such as ' +
      '`incident`.',
  }),
  recordId: filterText.meta({
    description: 'Id of a record that triggered the execution or that it touched.',
  }),
})

export const ExecutionsQuery = ExecutionsOfArtifactQuery.extend({
  artifactType: z
    .enum(['workflow_action', 'business_rule', 'scheduled', 'api'])
    .optional()
    .meta({ description: 'Kind of the artifact, regardless of how it was run.' }),
})
export type ExecutionsQuery = z.infer<typeof ExecutionsQuery>

export const RelatedExecutionsQuery = ExecutionsOfArtifactQuery.extend({
  recordId: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'Id of a record that triggered the execution or that it touched.' }),
})

const waits = {
  mode: z.enum(['sync', 'async']).default('sync').meta({
    description: '`sync` returns the outcome. `async` returns 202 once the execution is accepted.',
  }),
  timeoutMs: z.int().min(10).max(300_000).optional().meta({
    description:
      'Timeout in milliseconds that ends the execution earlier than the limits of the artifact would.',
  }),
}

export const ReplayExecution = z
  .strictObject({
    input: JsonValue.optional().meta({ description: 'Input of the replay. Default: the original input.' }),
    version: z.int().min(1).max(999_999_999).optional().meta({
      description: 'Version of the artifact. Default: the version of the original execution.',
    }),
    ...waits,
  })
  .meta({ id: 'ReplayExecution', example: { input: { incidentId: 'inc_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' } } })
export type ReplayExecution = z.infer<typeof ReplayExecution>

export const InvokeArtifact = z
  .strictObject({
    input: JsonValue.default({}),
    version: z
      .int()
      .min(1)
      .max(999_999_999)
      .optional()
      .meta({ description: 'Version of the artifact. Default: the current version.' }),
    ...waits,
    retryFailed: z
      .boolean()
      .default(false)
      .meta({
        description:
          'With an Idempotency-Key that was used before: starts a new execution if the first one failed or timed out, ' +
          'instead of returning the first one.',
      }),
  })
  .meta({ id: 'InvokeArtifact', example: { input: { text: 'Printer on fire' } } })
export type InvokeArtifact = z.infer<typeof InvokeArtifact>

/** An execution as contained in its events. */
export const ExecutionState = z.object({
  ...summary,
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  ...outcome,
})
export type ExecutionState = z.infer<typeof ExecutionState>

export const executionEvents = {
  'sdk.execution.failed': resourceEvent(
    ExecutionState,
    'An execution of an artifact has failed or timed out.',
  ),
} satisfies Record<string, EventDefinition>
