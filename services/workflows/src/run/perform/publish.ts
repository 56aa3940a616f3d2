import { PublishedTopicEvent, type PublishStep } from '@opsplane/contracts'
import type { CallPlatform } from '@opsplane/http'
import { z } from 'zod'
import { type Effect, platformCaller } from './effect.js'

const Input = z.object({
  eventType: z.coerce.string(),
  payload: z.unknown(),
  deduplicationKey: z.coerce.string().optional(),
})
const Answer = z.object({ data: PublishedTopicEvent })

/** Publishes an event on a topic, stored only once over all attempts. Returns `{ id, deduplicated }`. */
export const publishEffect =
  (callPlatform: CallPlatform): Effect<PublishStep> =>
  async (call) => {
    const { eventType: type, payload, deduplicationKey = call.key } = Input.parse(call.input)
    const { body } = await callPlatform(platformCaller(call), {
      service: 'dispatcher',
      method: 'POST',
      path: `/events/topics/${encodeURIComponent(call.step.topic)}/publish`,
      body: { type, payload, deduplicationKey },
    })
    const { id, deduplicated } = Answer.parse(body).data
    return { id, deduplicated }
  }
