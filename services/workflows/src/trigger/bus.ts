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

/** A message of the topics stream, with its tenant. */
interface BusMessage {
  tenant: TenantScope
  topic: string
  subject: string
  seq: number
  message: TopicMessage
  /** Number of runs and executions in its chain of causes. */
  depth: number
}

const durable = 'workflows-bus'

/** Starts workflows with topic triggers, each once for an event on a topic. */
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
    ...createStartPosition(database, stream),
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
 * A new consumer starts at the end of the stream: events published before start nothing. If its checkpoint is from an
 * earlier stream that was lost, it starts with the oldest message, because none of the new stream was received.
 */
function createStartPosition({ db }: Database, stream: StreamLog) {
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
      // A consumer created earlier may have been lost together with its stream.
      await place()
      const row = { consumer: durable, streamSequence: 0, eventId: '', handled: 0, ...set }
      await db.insert(consumerCheckpoints).values(row).onConflictDoUpdate({ target: consumer, set })
    },
  }
}

/**
 * Parses a message with the subject `bus.<workspace>.<environment>.<topic>`; topics may contain dots. Returns `null` if
 * it is not a topic event.
 */
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
