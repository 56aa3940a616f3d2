import { z } from 'zod'
import { idSchema } from '../core/ids.js'

export const deliveryStatuses = ['pending', 'retrying', 'succeeded', 'failed', 'held'] as const
export const DeliveryStatus = z.enum(deliveryStatuses).meta({
  id: 'DeliveryStatus',
  description:
    'pending: not attempted yet, or not since a manual retry; retrying: a retry is due; held: its webhook is paused; failed: all retries exhausted.',
})
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

/** Why an attempt failed. `status` means the endpoint answered with a status other than 2xx. */
export const attemptErrorKinds = [
  'status',
  'timeout',
  'dns',
  'connect',
  'tls',
  'reset',
  'protocol',
  'blocked_address',
  'secret_missing',
  'secret_refused',
  'headers_too_large',
  'webhook_deleted',
  'event_missing',
] as const
export const AttemptErrorKind = z.enum(attemptErrorKinds)
export type AttemptErrorKind = z.infer<typeof AttemptErrorKind>

export const AttemptError = z.object({ kind: AttemptErrorKind, message: z.string() })
export type AttemptError = z.infer<typeof AttemptError>

/** One event for one webhook, with its delivery status. */
export const Delivery = z
  .object({
    id: idSchema('delivery'),
    eventId: z.string(),
    eventType: z.string(),
    url: z.string(),
    status: DeliveryStatus,
    attempts: z.int(),
    lastAttemptAt: z.string().nullable(),
    lastResponseStatus: z.int().nullable(),
    lastResponseBody: z
      .string()
      .nullable()
      .meta({ description: 'The first 16 KiB; the attempts have 64 KiB.' }),
    lastDurationMs: z.int().nullable(),
    lastError: AttemptError.nullable(),
    nextAttemptAt: z.string().nullable().meta({
      description:
        'When the next attempt is due; null also while others of the same ordering key come first.',
    }),
    webhookId: z.string(),
    replayOf: z.string().nullable().meta({ description: 'The delivery this one is a replay of.' }),
    createdAt: z.string(),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.infer<typeof Delivery>

const AttemptResponse = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string().meta({ description: 'The first 64 KiB.' }),
  truncated: z.boolean(),
})

const phase = (description: string) =>
  z
    .int()
    .min(0)
    .nullable()
    .meta({ description: `In milliseconds. ${description}` })

/** One request made for a delivery. Secrets in request headers, and where they are echoed, are `***`. */
export const DeliveryAttempt = z
  .object({
    number: z.int(),
    startedAt: z.string(),
    durationMs: z.int(),
    url: z.string(),
    requestHeaders: z.record(z.string(), z.string()),
    response: AttemptResponse.nullable(),
    error: AttemptError.nullable(),
    dnsMs: phase(
      'To find the addresses of the host. Null for an address, and for a connection that was kept.',
    ),
    connectMs: phase('To open the TCP connection. Null for one that was kept, or that was not come to.'),
    tlsMs: phase('For the TLS handshake. Null without TLS, too.'),
    firstByteMs: phase('From when the connection was there to the first byte of the answer.'),
    totalMs: phase(
      'From before DNS to the end of the answer or to its failure; `durationMs` also has the time to find secrets.',
    ),
    isConnectionReused: z.boolean().nullable().meta({
      description:
        'Whether it went over a connection kept from an earlier request. Null where there was none.',
    }),
  })
  .meta({ id: 'DeliveryAttempt' })
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>

/** Maximum number of replays listed with their original. */
export const maxListedReplays = 20

/** A delivery with its last request and response, and every attempt made, oldest first. */
export const DeliveryDetail = Delivery.extend({
  request: z
    .object({
      method: z.literal('POST'),
      url: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string().meta({ description: 'The body as sent and signed.' }),
    })
    .nullable()
    .meta({ description: 'Of the last attempt; null before the first.' }),
  response: AttemptResponse.nullable().meta({ description: 'To the last attempt, where there was one.' }),
  attemptLog: z.array(DeliveryAttempt),
  replays: z
    .array(Delivery.pick({ id: true, status: true, createdAt: true }))
    .max(maxListedReplays)
    .meta({ description: `Those of this delivery, newest first; the last ${maxListedReplays}.` }),
  replayCount: z.int().min(0).meta({ description: 'Of all replays of this delivery that are kept.' }),
}).meta({ id: 'DeliveryDetail' })
export type DeliveryDetail = z.infer<typeof DeliveryDetail>

/** The event type of a test ping. It never appears in the log and is sent to no other subscriber. */
export const testEventType = 'webhook.test'

/** The endpoint's response to a test ping. */
export const WebhookTestResult = z
  .object({
    status: z.int().meta({ description: 'HTTP status of the endpoint.' }),
    latency_ms: z.int().meta({ description: 'From before DNS to the last byte of the answer.' }),
    body: z.string().meta({
      description:
        'The first 64 KiB of the answer; secrets that are echoed as they are or in base64, hexadecimal, URLs or JSON are `***`.',
    }),
  })
  .meta({ id: 'WebhookTestResult' })
export type WebhookTestResult = z.infer<typeof WebhookTestResult>
