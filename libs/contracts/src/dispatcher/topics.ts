import { z } from 'zod'
import { idSchema } from '../core/ids.js'

/** Valid NATS subjects without wildcards and empty segments. `_` and `-` cannot come first. */
const topicName = /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/

export const TopicName = z
  .string()
  .max(100, 'has at most 100 characters')
  .regex(topicName, 'must be lower-case letters, digits, `_` and `-`, in segments separated by single dots')
  .meta({
    description:
      'Name of a topic, such as `orders.created`. A topic exists as soon as an event is published to it.',
  })

/** Maximum bytes of a publish request; a message of this size fits the default limits of NATS. */
export const maxTopicEventBytes = 256 * 1024

const fields = {
  type: z.string().min(1).max(200).meta({ description: 'Free-form event type.' }),
  payload: z.record(z.string(), z.unknown()).meta({ description: 'Any JSON object.' }),
  deduplicationKey: z.string().min(1).max(255),
  createdAt: z.iso.datetime(),
}

/** Body of `POST /events/topics/:name/publish`. */
export const PublishTopicEvent = z
  .strictObject({
    type: fields.type,
    payload: fields.payload,
    deduplicationKey: fields.deduplicationKey.optional().meta({
      description:
        'An event with the same key as another event of the last 5 minutes on this topic is suppressed.',
    }),
  })
  .meta({
    id: 'PublishTopicEvent',
    example: { type: 'order.created', payload: { amount: 5 }, deduplicationKey: 'o-1' },
  })
export type PublishTopicEvent = z.infer<typeof PublishTopicEvent>

export const PublishedTopicEvent = z
  .object({
    id: idSchema('event'),
    topic: z.string(),
    type: z.string(),
    deduplicated: z.boolean().meta({
      description:
        'Whether the event was suppressed as a duplicate. If so, `id`, `type` and `createdAt` are those of the ' +
        'earlier event.',
    }),
    createdAt: fields.createdAt,
  })
  .meta({ id: 'PublishedTopicEvent' })
export type PublishedTopicEvent = z.infer<typeof PublishedTopicEvent>

export const TopicEvent = z
  .object({
    id: idSchema('event'),
    topic: z.string(),
    type: z.string(),
    payload: z.record(z.string(), z.unknown()),
    createdAt: fields.createdAt,
    deduplicationKey: z.string().optional(),
  })
  .meta({ id: 'TopicEvent' })
export type TopicEvent = z.infer<typeof TopicEvent>

/**
 * A message of the TOPICS stream. Its subject contains its topic, and its id is derived
 * from its stream position (ADR 012).
 */
export const TopicMessage = z.object({
  type: fields.type,
  payload: fields.payload,
  createdAt: fields.createdAt,
  deduplicationKey: z.string().optional(),
})
export type TopicMessage = z.infer<typeof TopicMessage>

/** A topic message with its cause depth: how many runs and executions caused it. Readers do not receive the depth. */
export const CausedTopicMessage = TopicMessage.extend({ depth: z.int().min(0).default(0) })
