import { z } from 'zod'

const MessageId = z.string().meta({ description: 'JetStream drops a second message with it.' })

/** Headers of a message on `evt.…`. */
export const EventHeaders = z.object({
  'Nats-Msg-Id': MessageId.meta({
    description: 'Id of the event; JetStream drops a second message with it.',
  }),
  'X-Request-ID': z.string().optional().meta({ description: 'Of the request that caused the event.' }),
})

/** Headers of a message on `bus.…`. */
export const BusMessageHeaders = z.object({
  'Nats-Msg-Id': MessageId.optional().meta({
    description: 'Made from the deduplicationKey, where there is one.',
  }),
})

/** A message on `bus.…`; its topic is in the subject. */
export const BusMessage = z.object({
  type: z.string().meta({ description: 'Event type, chosen by who publishes.' }),
  payload: z.record(z.string(), z.unknown()).meta({ description: 'Any JSON object.' }),
  createdAt: z.iso.datetime(),
  deduplicationKey: z.string().optional(),
})

export const busExample: z.infer<typeof BusMessage> = {
  type: 'order.placed',
  payload: { amount: 120 },
  createdAt: '2026-01-15T09:30:00.000Z',
}
