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
    '`workflow_node` of a step, with the id of the run; `scheduled_job` with that of the job; `webhook` of a business rule, ' +
    'with that of the event; `api` with an API key, and of validations; `manual` by a signed-in person, by a test or ' +
    'a replay.',
})
export type ExecutionTrigger = z.infer<typeof ExecutionTrigger>

const executionTypes = ['workflow_action', 'business_rule', 'scheduled', 'api', 'test'] as const
export const ExecutionType = z.enum(executionTypes).meta({
  description:
    'What it was run as, whatever its artifact is: by a step, by an event or before records are written, by a job, by ' +
    'its caller, or by a test. A replay is what the original was.',
})
export type ExecutionType = z.infer<typeof ExecutionType>

export const ExecutionError = z.object({
  code: z.string(),
  message: z.string(),
  stack: z.string().meta({ description: 'In the lines of the source, with its causes.' }),
  thrown: z
    .object({ name: z.string(), code: z.string().nullable(), cause: z.string().nullable() })
    .optional()
    .meta({ description: 'Of an error that the code has thrown: what it says of itself.' }),
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
  trigger_id: z
    .string()
    .nullable()
    .meta({ description: 'Id of what triggered it: of a run, a job, an event.' }),
  status: ExecutionStatus,
}
const outcome = {
  duration_ms: z.int().min(0).nullable().meta({ description: 'Wall-clock time; null while it runs.' }),
  memory_peak_mb: z.int().min(0).nullable(),
  started_at: At,
  completed_at: At.nullable(),
  environment: z.enum(environments),
  workspace_id: z.string(),
  replay_of: idSchema('execution').optional().meta({ description: 'Of a replay: the original.' }),
}

/** Request header by which a workflow step requests the secrets of a response. Only services receive them. */
export const secretsHeader = 'x-answer-secrets'

/** One execution of an artifact: input, result and details. */
export const Execution = z
  .object({
    ...summary,
    input: JsonValue.meta({
      description: 'Values of secrets are `***`, as they are and in base64, hexadecimal, URLs and JSON.',
    }),
    output: JsonValue.meta({
      description:
        'As the code gave it in the answer to an invocation; elsewhere without secrets, as the input.',
    }),
    error: ExecutionError.nullable(),
    logs: z.array(ExecutionLogEntry),
    omitted: z
      .literal(true)
      .optional()
      .meta({
        description:
          'There where `input` and `logs` are left out, and `output` but for the caller, as the workspace had reached its limit ' +
          '`traceBytesPerDay`.',
      }),
    secrets: z.array(z.string()).optional().meta({
      description:
        'For steps of workflows alone: secrets in `output` and `error`, by which their run is masked.',
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
      'Of a record that triggered it or that it touched: the slug of a table, or a kind such as `incident`.',
  }),
  recordId: filterText.meta({ description: 'Of a record that triggered it or that it touched.' }),
})

export const ExecutionsQuery = ExecutionsOfArtifactQuery.extend({
  artifactType: z
    .enum(['workflow_action', 'business_rule', 'scheduled', 'api'])
    .optional()
    .meta({ description: 'The kind of the artifact, whatever it was run as.' }),
})
export type ExecutionsQuery = z.infer<typeof ExecutionsQuery>

export const RelatedExecutionsQuery = ExecutionsOfArtifactQuery.extend({
  recordId: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'Of a record that triggered it or that it touched.' }),
})

const waits = {
  mode: z.enum(['sync', 'async']).default('sync').meta({
    description: '`sync` answers with the outcome. `async` answers 202 once the execution is accepted.',
  }),
  timeoutMs: z
    .int()
    .min(10)
    .max(300_000)
    .optional()
    .meta({ description: 'Ends it sooner than the limits of the artifact would.' }),
}

export const ReplayExecution = z
  .strictObject({
    input: JsonValue.optional().meta({ description: 'The original one unless given.' }),
    version: z.int().min(1).max(999_999_999).optional().meta({
      description: 'Of the artifact; the one that ran unless given.',
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
      .meta({ description: 'The present one unless given.' }),
    ...waits,
    retryFailed: z
      .boolean()
      .default(false)
      .meta({
        description:
          'With an Idempotency-Key that was used before: starts a new execution where the first one failed or timed out, ' +
          'instead of answering with that.',
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
