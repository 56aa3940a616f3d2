import {
  CausedTopicMessage,
  Environment,
  type TenantScope,
  type TopicEvent,
  type TopicMessage,
} from '@opsplane/contracts'
import { consumerCheckpoints } from '@opsplane/eventstore'
import { durableConsumer, type StreamLog, type StreamMessage, streamLog, topicEventId } from '@opsplane/nats'
import { type Database, isDependencyUnavailable, isTransient } from '@opsplane/postgres'
import type { BackendConfig } from '@opsplane/runtime'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { findCandidates } from './active-workflows.js'
import { buildTopicKey, isStartedByTopic } from './matching.js'
import type { TriggerStarter } from './trigger-starter.js'

/** A message of the stream of topics, and whose it is. */
interface BusMessage {
  tenant: TenantScope
  topic: string
  subject: string
  seq: number
  message: TopicMessage
  /** How many runs and executions have caused it. */
  depth: number
}

const durable = 'workflows-bus'

/** Starts the workflows that listen to topics, each once for an event of the bus. */
export function startBusTriggers(
  ctx: Pick<ServiceContext, 'link' | 'names' | 'log' | 'database'> & {
    config: Pick<BackendConfig, 'natsAckWaitMs'>
  },
  starting: TriggerStarter,
): BackgroundWork {
  const { config, link, names, log, database } = ctx
  const stream = streamLog(link, names.topicsStream)
  const prefix = names.topicSubjects.replace(/>$/, '')

  const start = async ({ tenant, topic, subject, seq, message, depth }: BusMessage, identity: string) => {
    const createdAtMs = Date.parse(message.createdAt)
    const id = topicEventId(identity, subject, { createdAtMs, sequence: seq })
    const event: TopicEvent = { id, topic, ...message }
    for (const { state } of await findCandidates(database, [buildTopicKey(tenant, topic)]))
      if (isStartedByTopic(state, event))
        await starting.start(tenant, state, {
          ...{ type: 'event_bus', id, at: message.createdAt, event, input: null },
          ...{ depth, requestId: null, causationId: id },
        })
  }

  return durableConsumer<BusMessage>({
    link,
    stream: names.topicsStream,
    durable,
    ackWaitMs: config.natsAckWaitMs,
    ...beginningOf(database, stream),
    log,
    read: (message) => readMessage(message, prefix),
    isAway: isDependencyUnavailable,
    isTransient,
    onDead: async ({ subject, seq }) => log.error({ subject, seq }, 'a topic event could not be handled'),
    apply: async (received) => {
      const identity = await stream.identity()
      for (const { event } of received) await start(event, identity)
    },
  })
}

/**
 * What was published before any workflow could listen starts none. Where the consumer was on another stream before, which is lost,
 * no consumer has received any message of it.
 */
function beginningOf({ db }: Database, stream: StreamLog) {
  const { consumer, streamCreated } = consumerCheckpoints
  return {
    async start() {
      stream.forget()
      const [had] = await db.select({ streamCreated }).from(consumerCheckpoints).where(eq(consumer, durable))
      return had && had.streamCreated !== (await stream.identity()) ? 'oldest' : 'new'
    },
    async prepare(place: () => Promise<unknown>) {
      stream.forget()
      const set = { streamCreated: await stream.identity() }
      // What was made on the stream before may be gone with that by now.
      await place()
      const row = { consumer: durable, streamSequence: 0, eventId: '', handled: 0, ...set }
      await db.insert(consumerCheckpoints).values(row).onConflictDoUpdate({ target: consumer, set })
    },
  }
}

/** Null for what is no event of a topic. `bus.<workspace>.<environment>.<topic>`, whose topic may have dots. */
function readMessage(message: StreamMessage, prefix: string) {
  const [workspaceId = '', environment, ...topic] = message.subject.slice(prefix.length).split('.')
  const parsed = CausedTopicMessage.safeParse(message.json())
  const where = Environment.safeParse(environment)
  if (!parsed.success || !where.success) return null
  const { depth, ...content } = parsed.data
  const event: BusMessage = {
    tenant: { workspaceId, environment: where.data },
    ...{ topic: topic.join('.'), subject: message.subject, seq: message.seq, message: content },
    depth,
  }
  return { event, queueKey: message.subject, tenant: workspaceId }
}
