import { z } from 'zod'
import { Actor, Environment } from '../core/principal.js'

export const EventResource = z.object({
  type: z.string(),
  id: z.string(),
  number: z.string().optional(),
  displayName: z.string(),
})
export type EventResource = z.infer<typeof EventResource>

/** The client that caused an action, as recorded by the gateway. */
export const EventSource = z
  .object({
    address: z.string().meta({ description: 'IP address.' }),
    userAgent: z
      .string()
      .max(256)
      .meta({ description: 'User agent as sent by the client, truncated to 256 characters.' }),
  })
  .meta({ id: 'EventSource', example: { address: '203.0.113.7', userAgent: 'curl/8.14' } })
export type EventSource = z.infer<typeof EventSource>

/** The fields of every resource event; type-specific extras are added to these. */
export const ChangeData = z.looseObject({
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  changes: z.array(z.string()),
})
export type ChangeData = z.infer<typeof ChangeData>

/** Shape A: the platform event as stored in the log, on JetStream and in the audit log. */
export const PlatformEvent = z
  .object({
    id: z.string(),
    type: z.string(),
    workspaceId: z.string(),
    environment: Environment,
    createdAt: z.iso.datetime({ precision: 3 }),
    actor: Actor,
    resource: EventResource,
    data: ChangeData,
    /** Position within its aggregate, from 1 without gaps. */
    version: z.int().positive(),
    requestId: z.string().nullable(),
    causationId: z.string().nullable(),
    /** `null` for actions of the platform itself, and for events written before sources were recorded. */
    source: EventSource.nullable().default(null),
  })
  .meta({ id: 'PlatformEvent' })
export type PlatformEvent = z.infer<typeof PlatformEvent>

const AnyRecord = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
)

/**
 * Shape A as read from a log or JetStream. The keys of `before` and `after` are not validated again, which saves all
 * but a tenth of the time to parse an event.
 */
export const StoredEvent: z.ZodType<PlatformEvent> = PlatformEvent.extend({
  data: ChangeData.extend({ before: AnyRecord.nullable(), after: AnyRecord.nullable() }),
})

/** Shape B: the body of a webhook delivery. */
export const DeliveryBody = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    event: z.string(),
    timestamp: z.string(),
    workspace_id: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'DeliveryBody' })
export type DeliveryBody = z.infer<typeof DeliveryBody>

/**
 * The resource after the event (the last known one for a delete) with its version, and the extras of the event's type,
 * such as an added comment. If an extra has the same name as a field of the resource, the field wins.
 */
export function deliveryData({
  data,
  version,
}: Pick<PlatformEvent, 'data' | 'version'>): Record<string, unknown> {
  const { before, after, changes: _, ...extras } = data
  return { version, ...extras, ...(after ?? before) }
}

/**
 * Shape A as shown by the audit log: `after` is the `data` of a delivery of the event,
 * or `null` if the resource was deleted.
 */
export function auditedEvent(event: PlatformEvent): PlatformEvent {
  if (event.data.after === null) return event
  return { ...event, data: { ...event.data, after: deliveryData(event) } }
}

/** `data`: see `deliveryData`; computed once for all webhooks of an event. */
export function deliveryBody(
  event: PlatformEvent,
  webhookId: string,
  data: Record<string, unknown> = deliveryData(event),
): DeliveryBody {
  return {
    id: event.id,
    webhook_id: webhookId,
    event: event.type,
    timestamp: event.createdAt,
    workspace_id: event.workspaceId,
    data,
  }
}

/** The part of an event type or pattern before the first dot, such as `incident`. */
export const parseEventFamily = (type: string): string => type.split('.', 1)[0] ?? ''

/** Whether a subscription entry matches: an exact type, `prefix.*`, `*`, or `audit.*` for the whole log. */
export function patternMatches(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === 'audit.*' || pattern === type) return true
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))
}
