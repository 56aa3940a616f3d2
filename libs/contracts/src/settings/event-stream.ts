import { z } from 'zod'
import { EventPattern } from '../dispatcher/webhook-input.js'
import { AuditEvent } from './settings.js'

/** Query of `GET /events/stream`. All that is given must hold. */
export const EventStreamQuery = z.object({
  type: z
    .array(EventPattern)
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'Event types or patterns, as webhooks take them; all unless given.' }),
  resourceType: z.string().max(100).optional(),
  resourceId: z.string().max(100).optional(),
  requestId: z.string().max(128).optional().meta({ description: 'Of the request that caused the event.' }),
  afterSeq: z.coerce.number().pipe(z.int().min(0)).optional().meta({
    description:
      'The `seq` of the last event that was read, as `Last-Event-ID` carries it, which goes before it; only what comes from now on unless given.',
  }),
})
export type EventStreamQuery = z.infer<typeof EventStreamQuery>

/** The `data` of a server-sent event of `GET /events/stream`. */
export const StreamedEvent = AuditEvent.omit({ hash: true }).meta({ id: 'StreamedEvent' })
export type StreamedEvent = z.infer<typeof StreamedEvent>
