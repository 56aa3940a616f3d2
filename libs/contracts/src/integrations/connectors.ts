import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { MomentOrDay } from '../core/moment.js'
import { Environment } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'

const At = z.iso.datetime({ precision: 3 })

/** `unknown` until the first test, check or invocation shows whether the connected system answers. */
const connectorStatuses = ['unknown', 'up', 'down'] as const
export const ConnectorStatus = z.enum(connectorStatuses)
export type ConnectorStatus = z.infer<typeof ConnectorStatus>

const Name = z.string().trim().min(1).max(200)
const Description = z.string().trim().max(2_000)
const KindName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,49}$/, 'must be the name of a kind, such as http')
  .meta({ description: 'Name of a kind, as listed by `GET /connectors/kinds`.' })
const Config = z.record(z.string(), z.unknown()).meta({
  description:
    'Configuration as defined by the kind. Credentials are references of the form `{{secrets.name}}`.',
})

export const ConnectorRetry = z.strictObject({
  attempts: z
    .int()
    .min(1)
    .max(10)
    .default(3)
    .meta({ description: 'Maximum number of attempts, including the first; 1 means no retries.' }),
  delayMs: z
    .int()
    .min(10)
    .max(60_000)
    .default(500)
    .meta({ description: 'Milliseconds before the first retry. Doubles before each further retry.' }),
  maxDelayMs: z
    .int()
    .min(10)
    .max(60_000)
    .default(10_000)
    .meta({ description: 'Maximum delay between attempts, in milliseconds.' }),
})
export type ConnectorRetry = z.infer<typeof ConnectorRetry>

const TimeoutMs = z
  .int()
  .min(100)
  .max(100_000)
  .meta({ description: 'Deadline in milliseconds for an invocation, including all its attempts.' })

/** A connector as contained in events. */
export const ConnectorState = z.object({
  id: idSchema('connector'),
  name: Name,
  kind: z.string(),
  description: z.string(),
  config: Config,
  enabled: z.boolean(),
  retry: ConnectorRetry,
  timeoutMs: z.int(),
  ownerId: z.string().meta({
    description:
      'The user whose permission to use secrets applies: the one who last set the config or enabled the connector.',
  }),
  status: ConnectorStatus,
  statusChangedAt: At.nullable(),
  lastError: z
    .string()
    .nullable()
    .meta({ description: 'Reason why the connector is down. `null` if it is not down.' }),
  createdAt: At,
  updatedAt: At,
})
export type ConnectorState = z.infer<typeof ConnectorState>

export const Connector = ConnectorState.extend({ version: z.int().min(1) }).meta({ id: 'Connector' })
export type Connector = z.infer<typeof Connector>

export const NewConnector = z
  .strictObject({
    name: Name.meta({ description: 'Unique in the environment.' }),
    kind: KindName,
    description: Description.default(''),
    config: Config,
    enabled: z.boolean().default(true),
    retry: ConnectorRetry.prefault({}),
    timeoutMs: TimeoutMs.default(10_000),
  })
  .meta({
    id: 'NewConnector',
    example: {
      name: 'billing',
      kind: 'http',
      config: {
        baseUrl: 'https://billing.example.com/v1',
        auth: { type: 'bearer', token: '{{secrets.billing_token}}' },
      },
    },
  })
export type NewConnector = z.infer<typeof NewConnector>

/** Absent fields keep their value; `config` and `retry` are replaced as a whole. */
export const ConnectorPatch = z
  .strictObject({
    name: Name,
    description: Description,
    config: Config,
    enabled: z.boolean(),
    retry: ConnectorRetry,
    timeoutMs: TimeoutMs,
  })
  .partial()
  .meta({ id: 'ConnectorPatch', example: { enabled: false } })
export type ConnectorPatch = z.infer<typeof ConnectorPatch>

const JsonSchema = z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema, draft 2020-12.' })

export const ConnectorAction = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    repeatable: z.enum(['always', 'by_input', 'never']).meta({
      description:
        'Whether an invocation is retried although an earlier attempt may have taken effect. Requests that were ' +
        'never sent are retried in any case.',
    }),
    input: JsonSchema,
    output: JsonSchema,
  })
  .meta({ id: 'ConnectorAction' })
export type ConnectorAction = z.infer<typeof ConnectorAction>

export const ConnectorKind = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    config: JsonSchema,
    actions: z.array(ConnectorAction).meta({
      description:
        'Actions that every connector of the kind has. `/connectors/:id/actions` lists the additional actions of a ' +
        'connector.',
    }),
  })
  .meta({ id: 'ConnectorKind' })
export type ConnectorKind = z.infer<typeof ConnectorKind>

export const ConnectorTest = z
  .object({
    ok: z.boolean(),
    status: ConnectorStatus.meta({ description: 'Status of the connector after the test.' }),
    latencyMs: z.number().min(0),
    message: z.string(),
  })
  .meta({ id: 'ConnectorTest' })
export type ConnectorTest = z.infer<typeof ConnectorTest>

export const InvokeConnector = z
  .strictObject({
    action: z.string().min(1).max(200),
    input: z.unknown().optional().meta({ description: 'Input as defined by the action. Default: `{}`.' }),
    timeoutMs: TimeoutMs.optional().meta({
      description:
        'Deadline in milliseconds. Shortens the deadline of the connector; a higher value has no effect. Default: ' +
        'the deadline of the connector.',
    }),
  })
  .meta({
    id: 'InvokeConnector',
    example: { action: 'get', input: { path: '/invoices', query: { state: 'open' } } },
  })
export type InvokeConnector = z.infer<typeof InvokeConnector>

export const ConnectorResult = z
  .object({
    invocationId: idSchema('invocation'),
    output: z.unknown().meta({ description: 'Output as defined by the action.' }),
    attempts: z.int().min(1),
    durationMs: z.number().min(0),
  })
  .meta({ id: 'ConnectorResult' })
export type ConnectorResult = z.infer<typeof ConnectorResult>

export const InvocationStatus = z.enum(['succeeded', 'failed'])

/** `api`: a request of a person or key; otherwise the service that acts for a principal, such as `workflows`. */
const Trigger = z.string().regex(/^[a-z][a-z-]{0,49}$/, 'must be api or the name of a service')

export const ConnectorInvocation = z
  .object({
    id: idSchema('invocation'),
    connectorId: idSchema('connector'),
    action: z.string(),
    status: InvocationStatus,
    trigger: Trigger,
    run: z.string().nullable().meta({
      description:
        'The run or execution that made the invocation. `null` if a user or an API key requested it.',
    }),
    callerId: z.string(),
    attempts: z.int().min(0),
    durationMs: z.number().min(0),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    requestId: z.string().nullable(),
    createdAt: At,
  })
  .meta({ id: 'ConnectorInvocation' })
export type ConnectorInvocation = z.infer<typeof ConnectorInvocation>

export const ConnectorInvocationDetail = ConnectorInvocation.extend({
  request: z.string().meta({
    description: 'The input as JSON, limited to 64 KiB, with the values of secrets replaced with `***`.',
  }),
  response: z
    .string()
    .nullable()
    .meta({ description: 'The output as JSON, or the response received; limited to 64 KiB, redacted.' }),
  truncated: z
    .boolean()
    .meta({ description: 'Whether the request or the response exceeds the stored part.' }),
}).meta({ id: 'ConnectorInvocationDetail' })
export type ConnectorInvocationDetail = z.infer<typeof ConnectorInvocationDetail>

/** Filters of the invocation log. */
export const InvocationFilters = z.object({
  status: InvocationStatus.optional(),
  action: z.string().min(1).max(200).optional(),
  callerId: z.string().min(1).max(100).optional(),
  trigger: Trigger.optional(),
  from: MomentOrDay.optional().meta({ description: 'Only invocations at or after this instant.' }),
  to: MomentOrDay.optional().meta({ description: 'Only invocations before this instant.' }),
})

export const connectorEvents = {
  'connector.created': resourceEvent(ConnectorState, 'A connector was made.'),
  'connector.updated': resourceEvent(ConnectorState, 'The settings of a connector changed.'),
  'connector.status_changed': resourceEvent(
    ConnectorState,
    'What a connector leads to went up or down: seen by a test, a check or an invocation, reported once per change.',
    { previousStatus: ConnectorStatus },
  ),
  'connector.deleted': resourceEvent(ConnectorState, 'A connector was deleted.'),
} satisfies Record<string, EventDefinition>

/** Asks integrations which connectors of an environment have one of these ids or names. */
export const ConnectorNamesQuestion = z.strictObject({
  workspaceId: z.string().max(100),
  environment: Environment,
  ids: z.array(z.string().max(100)).max(1_000).default([]),
  names: z.array(z.string().max(200)).max(1_000).default([]),
  /** Whether to include actions derived from a configuration, which may require fetching a remote document. */
  furtherActions: z.boolean().default(false),
})
export type ConnectorNamesQuestion = z.input<typeof ConnectorNamesQuestion>

export const ConnectorNames = z.object({
  connectors: z.array(
    z.object({
      id: idSchema('connector'),
      name: z.string(),
      kind: z.string().optional(),
      /** Action names; `null` if they depend on a configuration and were not requested or cannot be read now. */
      actions: z.array(z.string()).nullable().optional(),
    }),
  ),
})
export type ConnectorNames = z.infer<typeof ConnectorNames>
