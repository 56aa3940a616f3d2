import type { TopicMessage } from '@opsplane/contracts'
import { z } from 'zod'

const MessageId = z
  .string()
  .meta({ description: 'Id of the message; JetStream drops a second message with the same id.' })

/** Headers of a message on `evt.…`. */
export const EventHeaders = z.object({
  'Nats-Msg-Id': MessageId.meta({
    description: 'Id of the event; JetStream drops a second message with the same id.',
  }),
  'X-Request-ID': z.string().optional().meta({ description: 'Id of the request that caused the event.' }),
})

/** Headers of a message on `bus.…`. */
export const BusMessageHeaders = z.object({
  'Nats-Msg-Id': MessageId.optional().meta({
    description: 'Derived from the deduplicationKey, if there is one.',
  }),
})

export const busExample: TopicMessage = {
  type: 'order.placed',
  payload: { amount: 120 },
  createdAt: '2026-01-15T09:30:00.000Z',
}
