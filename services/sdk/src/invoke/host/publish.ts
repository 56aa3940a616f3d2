import { PublishedTopicEvent } from '@opsplane/contracts'
import type { CallPlatform } from '@opsplane/http'
import { HostError } from '@opsplane/sandbox'
import { z } from 'zod'
import type { HostFunction } from './host-call.js'
import { platformCaller } from './platform-caller.js'

const Call = z.strictObject({
  topic: z.string().min(1).max(200),
  type: z.string().min(1).max(200),
  payload: z.record(z.string(), z.unknown()),
  deduplicationKey: z.string().min(1).max(255).optional(),
})
const Answer = z.object({ data: PublishedTopicEvent })

/** Publishes an event on a declared topic. Returns `{ id, deduplicated }`. */
export const publishFunction =
  (callPlatform: CallPlatform): HostFunction =>
  async (context, argument) => {
    const { topic, type, payload, deduplicationKey = context.key } = Call.parse(argument)
    if (!context.artifact.permissions.topics.includes(topic))
      throw new HostError('not_permitted', `The artifact has not declared the topic ${topic}.`)
    const { body } = await callPlatform(platformCaller(context), {
      ...{
        service: 'dispatcher',
        method: 'POST',
        path: `/events/topics/${encodeURIComponent(topic)}/publish`,
      },
      body: { type, payload, deduplicationKey },
    })
    const { id, deduplicated } = Answer.parse(body).data
    return { id, deduplicated }
  }
