import { z } from 'zod'
import { DottedPath, Filter, NewFilter } from '../core/filter.js'
import { idSchema } from '../core/ids.js'
import { PermissionName } from '../core/permission-name.js'
import { Environment } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { ReplayJob, WebhookResend } from './replay.js'
import { EventPattern, WebhookHeaders } from './webhook-input.js'

export const webhookStatuses = ['active', 'paused'] as const
export const WebhookStatus = z.enum(webhookStatuses)
export type WebhookStatus = z.infer<typeof WebhookStatus>

export const RetryStrategy = z.enum(['fixed', 'exponential'])
export type RetryStrategy = z.infer<typeof RetryStrategy>

/**
 * Why a webhook is paused: by a person, after five failed deliveries in a row, after a 410 Gone response,
 * or because its owner lost permissions it needs.
 */
export const PauseReason = z.enum(['user', 'consecutive_failures', 'gone', 'owner_rights'])
export type PauseReason = z.infer<typeof PauseReason>

/** A webhook is paused after this many consecutive deliveries that failed on every attempt. */
export const consecutiveFailuresToPause = 5

/** Replaces header values that are not shown. Sent back in a PATCH, it keeps the stored value. */
export const redactedValue = '***'

const webhookFields = {
  name: z.string().trim().min(1).max(200),
  url: z.string().min(1).max(2048).meta({ description: 'Target URL. Must use https.' }),
  events: z
    .array(EventPattern)
    .min(1)
    .max(100)
    .meta({ description: 'Event types, `prefix.*`, `*` for all, or `audit.*` for the whole audit log.' }),
  headers: WebhookHeaders,
  filter: NewFilter,
  retries: z.int().min(0).max(20),
  retry_strategy: RetryStrategy,
  timeout_ms: z.int().min(100).max(60_000),
  retry_max_delay_ms: z.int().min(1_000).max(86_400_000),
  retry_schedule: z
    .array(z.int().min(1).max(86_400))
    .min(1)
    .max(20)
    .meta({ description: 'Seconds before each retry. The last value repeats. Replaces the retry strategy.' }),
  rate_limit_per_second: z
    .number()
    .min(0.01)
    .max(1_000)
    .meta({
      description:
        'Maximum number of attempts per second across all replicas; 0.1 is one attempt every ten seconds. Attempts ' +
        'above the limit wait.',
    }),
  ordering_key: DottedPath.meta({
    description:
      'Dotted path into the delivery body, such as `data.id`. Deliveries with the same value at this path are sent ' +
      'one after another in the order of their events. A failing delivery blocks the next one until its retries ' +
      'are exhausted.',
  }),
  status: WebhookStatus,
}

/** A webhook as contained in events. */
export const WebhookSnapshot = z.object({
  id: idSchema('webhook'),
  ...webhookFields,
  events: z.array(z.string()),
  has_secret: z.boolean(),
  headers: z.record(z.string(), z.string()),
  filter: Filter.nullable(),
  retry_schedule: z.array(z.int()).nullable(),
  rate_limit_per_second: z.number().nullable(),
  ordering_key: z.string().nullable(),
  paused_reason: PauseReason.nullable(),
  owner_id: z.string().meta({
    description:
      'The user on whose behalf the webhook acts: the one who last set its url, events, filter or headers, or resumed it.',
  }),
  required_permissions: z.array(PermissionName).meta({
    description:
      'Permissions that the owner must have: to read every event to which the webhook was ever subscribed, and to ' +
      'use the secrets in its headers.',
  }),
  environment: Environment,
  created_at: z.string(),
  updated_at: z.string(),
})
export type WebhookSnapshot = z.infer<typeof WebhookSnapshot>

export const Webhook = WebhookSnapshot.extend({
  consecutive_failures: z.int().meta({
    description: 'Number of deliveries that failed on every attempt since the last success or resume.',
  }),
  version: z.int(),
}).meta({ id: 'Webhook' })
export type Webhook = z.infer<typeof Webhook>

const aliases = {
  retryStrategy: 'retry_strategy',
  timeoutMs: 'timeout_ms',
  retryMaxDelayMs: 'retry_max_delay_ms',
} as const
type Alias = keyof typeof aliases

const aliasFields = {
  retryStrategy: webhookFields.retry_strategy.optional().meta({ description: 'Alias of `retry_strategy`.' }),
  timeoutMs: webhookFields.timeout_ms.optional().meta({ description: 'Alias of `timeout_ms`.' }),
  retryMaxDelayMs: webhookFields.retry_max_delay_ms
    .optional()
    .meta({ description: 'Alias of `retry_max_delay_ms`.' }),
}

/** Rejects a field given in both spellings with different values. */
function agreeingSpellings(input: Record<string, unknown>, context: z.RefinementCtx) {
  for (const [alias, name] of Object.entries(aliases)) {
    if (input[alias] === undefined || input[name] === undefined || input[alias] === input[name]) continue
    context.addIssue({
      code: 'custom',
      path: [alias],
      message: `differs from ${name}, which is the same field`,
      params: { rule: 'conflicting_alias' },
    })
  }
}

function withoutAliases<Input extends { [A in Alias]?: unknown }>(input: Input): Omit<Input, Alias> {
  const { retryStrategy, timeoutMs, retryMaxDelayMs, ...rest } = input
  const aliasEntries = Object.entries({
    retry_strategy: retryStrategy,
    timeout_ms: timeoutMs,
    retry_max_delay_ms: retryMaxDelayMs,
  }).filter(([, value]) => value !== undefined)
  return { ...rest, ...Object.fromEntries(aliasEntries) }
}

const secret = z
  .string()
  .min(1)
  .max(512)
  .meta({
    description:
      'Signing secret, write-only. `X-Service-Signature-256` uses it unchanged as the key; for the Standard ' +
      'Webhooks signature, a `whsec_` secret is base64-decoded first.',
  })

/** Body of `POST /webhooks`. Either spelling of a field is accepted; after parsing only snake_case remains. */
export const CreateWebhook = z
  .strictObject({
    name: webhookFields.name,
    url: webhookFields.url,
    events: webhookFields.events,
    secret: secret.nullable().optional(),
    headers: webhookFields.headers.optional(),
    filter: webhookFields.filter.nullable().optional(),
    retries: webhookFields.retries.optional().meta({ description: 'Default: 3.' }),
    retry_strategy: webhookFields.retry_strategy.optional().meta({ description: 'Default: `exponential`.' }),
    timeout_ms: webhookFields.timeout_ms.optional().meta({ description: 'Default: 10000.' }),
    retry_max_delay_ms: webhookFields.retry_max_delay_ms
      .optional()
      .meta({ description: 'Default: 3600000.' }),
    retry_schedule: webhookFields.retry_schedule.nullable().optional(),
    rate_limit_per_second: webhookFields.rate_limit_per_second.nullable().optional(),
    ordering_key: webhookFields.ordering_key.nullable().optional(),
    status: webhookFields.status.optional().meta({ description: 'Default: `active`.' }),
    ...aliasFields,
  })
  .superRefine(agreeingSpellings)
  .transform(withoutAliases)
  .meta({
    id: 'CreateWebhook',
    example: {
      name: 'incidents to the pager',
      url: 'https://pager.example.com/hooks/opsplane',
      events: ['incident.*'],
      filter: { 'data.severity': { in: ['critical', 'high'] } },
    },
  })
export type CreateWebhook = z.infer<typeof CreateWebhook>

/** Body of `PATCH /webhooks/:id`: absent fields keep their value; `null` removes an optional one. */
export const UpdateWebhook = z
  .strictObject({
    name: webhookFields.name.optional(),
    url: webhookFields.url.optional(),
    events: webhookFields.events.optional(),
    secret: secret.nullable().optional(),
    headers: webhookFields.headers.optional().meta({ description: 'Replaces all existing headers.' }),
    filter: webhookFields.filter.nullable().optional(),
    retries: webhookFields.retries.optional(),
    retry_strategy: webhookFields.retry_strategy.optional(),
    timeout_ms: webhookFields.timeout_ms.optional(),
    retry_max_delay_ms: webhookFields.retry_max_delay_ms.optional(),
    retry_schedule: webhookFields.retry_schedule.nullable().optional(),
    rate_limit_per_second: webhookFields.rate_limit_per_second.nullable().optional(),
    ordering_key: webhookFields.ordering_key.nullable().optional(),
    status: webhookFields.status.optional().meta({ description: '`active` resumes a paused webhook.' }),
    ...aliasFields,
  })
  .superRefine(agreeingSpellings)
  .transform(withoutAliases)
  .meta({ id: 'UpdateWebhook', example: { events: ['incident.created', 'incident.escalated'], retries: 5 } })
export type UpdateWebhook = z.infer<typeof UpdateWebhook>

const maxOverlapSeconds = 604_800

/** Body of `POST /webhooks/:id/secrets/rotate`. */
export const RotateWebhookSecret = z
  .strictObject({
    secret: secret.optional().meta({
      description: 'The new secret, write-only. If omitted, a secret is generated and returned once.',
    }),
    overlapSeconds: z
      .int()
      .min(0)
      .max(maxOverlapSeconds)
      .default(86_400)
      .meta({
        description:
          'Seconds for which the replaced secret stays valid. 0 immediately invalidates it and every earlier secret ' +
          'that is still in its overlap.',
      }),
  })
  .default({ overlapSeconds: 86_400 })
  .meta({ id: 'RotateWebhookSecret', example: { overlapSeconds: 3600 } })
export type RotateWebhookSecret = z.infer<typeof RotateWebhookSecret>

/** The webhook after a rotation, with the new secret if the server generated it. */
export const RotatedWebhook = Webhook.extend({
  secret: z
    .string()
    .nullable()
    .meta({
      description:
        'The generated secret, returned only in this response. `null` if the secret was supplied by the caller, and ' +
        'in the response to a repeated idempotent request.',
    }),
  overlap_until: z
    .string()
    .nullable()
    .meta({ description: 'Time at which the replaced secret becomes invalid.' }),
}).meta({ id: 'RotatedWebhook' })
export type RotatedWebhook = z.infer<typeof RotatedWebhook>

/** Without the component id of the API response, so that an event's schema is self-contained. */
const ReplayJobSnapshot = z.object(ReplayJob.shape)
const replayProgress = { replayId: idSchema('replay'), replayed: ReplayJob.shape.replayed }
const resent = { deliveryId: z.string(), eventId: z.string() }

export const dispatcherEvents = {
  'webhook.created': resourceEvent(WebhookSnapshot, 'A webhook was created.'),
  'webhook.updated': resourceEvent(WebhookSnapshot, 'The settings of a webhook changed.'),
  'webhook.paused': resourceEvent(
    WebhookSnapshot,
    'A webhook stopped sending: by a person, after five consecutive failed deliveries, on 410 Gone, or as its owner may no longer do what it needs (`missing`).',
    {
      reason: PauseReason,
      consecutiveFailures: z.int().optional(),
      missing: z.array(PermissionName).optional(),
    },
  ),
  'webhook.resumed': resourceEvent(
    WebhookSnapshot,
    'A paused webhook is active again; what it missed is delivered now.',
  ),
  'webhook.secret_rotated': resourceEvent(
    WebhookSnapshot,
    'A webhook has a new signing secret; the replaced one is valid until `overlapUntil`.',
    { overlapUntil: z.string().nullable() },
  ),
  'webhook.deleted': resourceEvent(WebhookSnapshot, 'A webhook was deleted.'),
  'webhook.delivery_retried': resourceEvent(
    WebhookResend,
    'A failed delivery was resent on request. Emitted at the request; the outcome is in the delivery.',
    resent,
  ),
  'webhook.delivery_replayed': resourceEvent(
    WebhookResend,
    'The event of the delivery `replayOf` was replayed as the delivery `deliveryId`.',
    { ...resent, replayOf: z.string() },
  ),
  'webhook.replay_started': resourceEvent(
    ReplayJobSnapshot,
    'A replay of the `total` deliveries of a webhook that match `filter` was started.',
    { replayId: idSchema('replay'), filter: ReplayJob.shape.filter, total: ReplayJob.shape.total },
  ),
  'webhook.replay_canceled': resourceEvent(
    ReplayJobSnapshot,
    'A replay of many deliveries ended early, by a person or because its webhook was deleted; `replayed` were made.',
    replayProgress,
  ),
  'webhook.replay_completed': resourceEvent(
    ReplayJobSnapshot,
    'A replay of many deliveries has made the last of its replays.',
    replayProgress,
  ),
} satisfies Record<string, EventDefinition>
