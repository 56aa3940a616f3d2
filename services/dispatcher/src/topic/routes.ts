import {
  maxTopicEventBytes,
  PublishedTopicEvent,
  PublishTopicEvent,
  TopicEvent,
  TopicName,
} from '@opsplane/contracts'
import { computeRequestDepth, defineList, defineRoute, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { Topics } from './topics.js'

const tag = 'Events'
const params = z.object({ name: TopicName })
const longestWaitMs = 20_000

export function topicRoutes(topics: Topics): Route[] {
  const publish = defineRoute({
    operationId: 'publishTopicEvent',
    method: 'post',
    path: '/events/topics/:name/publish',
    summary: 'Publish an event to a topic',
    description:
      'The response is sent once the event is stored. An event with the same `deduplicationKey` as another event ' +
      'of the last 5 minutes on this topic is suppressed: the response is the earlier event, with `deduplicated` ' +
      'true. After a 503, the event may have been stored; with a `deduplicationKey`, it is safe to send it again.',
    tag,
    scope: 'topics:write',
    params,
    body: PublishTopicEvent,
    bodyLimitBytes: maxTopicEventBytes,
    response: PublishedTopicEvent,
    status: 201,
    errors: ['service_unavailable'],
    idempotency: 'claim',
    handler: async ({ params, body, meta }) =>
      topics.publish(meta.tenant, params.name, body, { now: meta.now, depth: computeRequestDepth(meta) }),
  })

  const read = defineList({
    operationId: 'listTopicEvents',
    path: '/events/topics/:name/events',
    summary: 'Read the events of a topic, oldest first',
    description:
      '`after` is the id of an event; the page continues with events published later, or starts with the oldest ' +
      'stored event if omitted. With `timeout`, the request waits for the first event. `nextCursor` is always the ' +
      'cursor for the next request: the last event read, or the given cursor if there was nothing new.',
    tag,
    scope: 'topics:read',
    waits: true,
    params,
    query: z.object({
      timeout: z.coerce.number().int().min(0).max(longestWaitMs).default(0).meta({
        description: 'Maximum time in milliseconds to wait if there are no new events.',
      }),
    }),
    sorts: [],
    response: TopicEvent,
    errors: ['service_unavailable'],
    handler: async ({ params, query: { after, limit, timeout: timeoutMs }, meta }) => {
      const page = await topics.read(meta.tenant, params.name, {
        after,
        limit,
        timeoutMs,
        signal: meta.signal(),
      })
      return { ...page, nextCursor: page.items.at(-1)?.id ?? after ?? null, limit }
    },
  })

  return [publish, read]
}
