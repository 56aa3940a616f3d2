import {
  ApiError,
  maxTopicEventBytes,
  PublishedTopicEvent,
  PublishTopicEvent,
  stringifyExact,
  TopicName,
} from '@opsplane/contracts'
import { createAddressFinder, type Delegations, readdress, type ServiceClient } from '@opsplane/http'
import { z } from 'zod'
import { defineAction } from './action.js'
import { CallFailure } from './call-failure.js'
import { defineKind, type Kind } from './kind.js'

const TopicConfig = z.strictObject({
  topics: z
    .array(TopicName)
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Topics the connector may publish to. Default: any topic.' }),
})
type TopicConfig = z.output<typeof TopicConfig>

const Publish = PublishTopicEvent.extend({ topic: TopicName })

export interface TopicKindOptions {
  dispatcher: Pick<ServiceClient, 'post'>
  delegations: Delegations
}

/** Slightly longer than the maximum duration of an invocation. */
const grantSeconds = 120

/** The kind for the platform's own event bus, used with the invoker's rights. */
export function topicKind({ dispatcher, delegations }: TopicKindOptions): Kind {
  return defineKind<TopicConfig>({
    name: 'topic',
    title: 'Event bus',
    description:
      "Publishes events to topics of the platform's event bus. The invoker must hold `topics:write`.",
    config: TopicConfig,
    sendsTo: () => [],
    actions: {
      publish: defineAction<TopicConfig, typeof Publish, typeof PublishedTopicEvent>({
        title: 'Publish an event',
        description:
          'Publishes an event. Within 5 minutes, a repeated invocation with the same Idempotency-Key does not publish ' +
          'another event.',
        input: Publish,
        output: PublishedTopicEvent,
        repeatable: true,
        async run({ config: { topics }, invoker, connectorId, idempotencyKey, signal }, { topic, ...event }) {
          if (topics && !topics.includes(topic))
            throw new ApiError('forbidden', `The connector does not publish to the topic ${topic}.`)
          if (!invoker) throw new Error('publishing requires an invoker')
          const body = { deduplicationKey: idempotencyKey, ...event }
          if (Buffer.byteLength(stringifyExact(body)) > maxTopicEventBytes)
            throw new ApiError('payload_too_large', `An event has at most ${maxTopicEventBytes} bytes.`)
          const grantRequest = {
            run: connectorId,
            permissions: ['topics:write' as const],
            expiresInSeconds: grantSeconds,
          }
          const { grant } = await delegations.delegate({ clientToken: invoker.token }, grantRequest)
          const issuer = delegations.actingBy(grant)
          return dispatcher
            .post(`/events/topics/${topic}/publish`, body, PublishedTopicEvent, { issuer, signal })
            .catch(rethrowDispatchError)
        },
      }),
    },
    test: async () => 'The bus is part of the platform.',
  })
}

/** Maps fields of the dispatcher's request to fields of the invocation. */
const fields = createAddressFinder({ 'path /name': 'body /input/topic', body: 'body /input' })

/**
 * A rejection by the dispatcher becomes a rejection here. If the dispatcher is unavailable, the event may have been
 * stored; the idempotency key prevents duplicates.
 */
function rethrowDispatchError(error: unknown): never {
  if (
    error instanceof ApiError &&
    (error.code === 'service_unavailable' || error.code === 'upstream_timeout')
  )
    throw new CallFailure('unreachable', error.message, { sent: true, cause: error })
  throw error instanceof ApiError ? error : readdress(error, fields)
}
