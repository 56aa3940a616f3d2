import { z } from 'zod'
import { idSchema } from '../core/ids.js'

export const deliveryStatuses = ['pending', 'retrying', 'succeeded', 'failed', 'held'] as const
export const DeliveryStatus = z.enum(deliveryStatuses).meta({
  id: 'DeliveryStatus',
  description:
    '`pending`: not attempted yet, or not attempted since a manual retry. `retrying`: a retry is due. `held`: ' +
    'the webhook is paused. `failed`: all retries are exhausted.',
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
      .meta({ description: 'The first 16 KiB of the response body. The attempts contain up to 64 KiB.' }),
    lastDurationMs: z.int().nullable(),
    lastError: AttemptError.nullable(),
    nextAttemptAt: z
      .string()
      .nullable()
      .meta({
        description:
          'Time at which the next attempt is due. Also `null` while earlier deliveries with the same ordering key are ' +
          'unfinished.',
      }),
    webhookId: z.string(),
    replayOf: z.string().nullable().meta({ description: 'Id of the delivery that this one replays.' }),
    createdAt: z.string(),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.infer<typeof Delivery>

const AttemptResponse = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string().meta({ description: 'The first 64 KiB of the response body.' }),
  truncated: z.boolean(),
})

const phase = (description: string) =>
  z
    .int()
    .min(0)
    .nullable()
    .meta({ description: `Duration in milliseconds. ${description}` })

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
    dnsMs: phase('DNS lookup. `null` for an IP address or a reused connection.'),
    connectMs: phase('Opening of the TCP connection. `null` if it was reused or not reached.'),
    tlsMs: phase('TLS handshake. Also `null` without TLS.'),
    firstByteMs: phase('From the established connection to the first byte of the response.'),
    totalMs: phase(
      'From before the DNS lookup to the end of the response or the failure. `durationMs` also includes the lookup of secrets.',
    ),
    isConnectionReused: z.boolean().nullable().meta({
      description:
        'Whether the request used a connection kept from an earlier request. `null` if there was no connection.',
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
      body: z.string().meta({ description: 'The body exactly as sent and signed.' }),
    })
    .nullable()
    .meta({ description: 'Request of the last attempt. `null` before the first attempt.' }),
  response: AttemptResponse.nullable().meta({
    description: 'Response to the last attempt, if there was one.',
  }),
  attemptLog: z.array(DeliveryAttempt),
  replays: z
    .array(Delivery.pick({ id: true, status: true, createdAt: true }))
    .max(maxListedReplays)
    .meta({ description: `The latest ${maxListedReplays} replays of this delivery, newest first.` }),
  replayCount: z.int().min(0).meta({ description: 'Number of stored replays of this delivery.' }),
}).meta({ id: 'DeliveryDetail' })
export type DeliveryDetail = z.infer<typeof DeliveryDetail>

/** The event type of a test ping. It never appears in the log and is sent to no other subscriber. */
export const testEventType = 'webhook.test'

/** The endpoint's response to a test ping. */
export const WebhookTestResult = z
  .object({
    status: z.int().meta({ description: 'HTTP status returned by the endpoint.' }),
    latency_ms: z
      .int()
      .meta({ description: 'Milliseconds from before the DNS lookup to the last byte of the response.' }),
    body: z.string().meta({
      description:
        'The first 64 KiB of the response body. Secrets echoed in plain text or in base64, hexadecimal, URLs or JSON ' +
        'are replaced with `***`.',
    }),
  })
  .meta({ id: 'WebhookTestResult' })
export type WebhookTestResult = z.infer<typeof WebhookTestResult>
