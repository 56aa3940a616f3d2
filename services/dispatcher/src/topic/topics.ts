import {
  ApiError,
  maxTopicEventBytes,
  type NatsNames,
  type PublishedTopicEvent,
  type PublishTopicEvent,
  stringifyExact,
  type TenantScope,
  type TopicMessage,
} from '@opsplane/contracts'
import {
  ensureStreams,
  type NatsLink,
  type StreamOptions,
  type StreamTail,
  streamLog,
  streamTail,
  topicEventId,
} from '@opsplane/nats'
import { type Budgets, type Logger, sha256Hex } from '@opsplane/runtime'
import { findCursorSequence, readTopic, type Topic, type TopicPage, toEvent } from './topic-reader.js'
import type { Waiters } from './waiters.js'

export interface ReadRequest {
  /** An event id; later events are read. */
  after: string | undefined
  limit: number
  /** Maximum milliseconds to wait for the first event. */
  timeoutMs: number
  signal: AbortSignal
}

/** The event bus as offered by the API. */
export interface Topics {
  publish(
    tenant: TenantScope,
    name: string,
    event: PublishTopicEvent,
    /** `depth`: number of runs and executions in the chain of causes. */
    options: { now: string; depth: number },
  ): Promise<PublishedTopicEvent>
  read(tenant: TenantScope, name: string, request: ReadRequest): Promise<TopicPage>
  close(): Promise<void>
}

export interface TopicsOptions {
  link: NatsLink
  names: NatsNames
  waiters: Waiters
  /** Publishing budgets of workspaces. */
  budgets: Pick<Budgets, 'spend'>
  log: Logger
  /** Limits of the stream, used if it has to be recreated. */
  streams?: StreamOptions
}

const restoreTimeoutMs = 5_000

export function createTopics({ link, names, waiters, budgets, log, streams }: TopicsOptions): Topics {
  const restore = async () => {
    log.warn({ stream: names.topicsStream }, 'the topic stream is gone; it is created again')
    await ensureStreams(link, names, { ...streams, signal: AbortSignal.timeout(restoreTimeoutMs) })
    tail.restart()
  }
  const stream = streamLog(link, names.topicsStream, restore)
  const underWay = new Map<string, Promise<TopicPage>>()
  let stored = 0
  const tail: StreamTail = streamTail({
    link,
    stream: names.topicsStream,
    log,
    onMessage(subject) {
      stored++
      waiters.wake(subject)
    },
    onReset() {
      stored++
      stream.forget()
      waiters.wakeAll()
    },
  })
  const topicOf = ({ workspaceId, environment }: TenantScope, name: string): Topic => ({
    name,
    subject: names.topicSubject(workspaceId, environment, name),
  })

  /**
   * Polls woken by the same event read the same page, so they share one read unless
   * something was stored since it began.
   */
  const readShared = (topic: Topic, after: number, limit: number): Promise<TopicPage> => {
    const key = `${topic.subject} ${after} ${limit} ${stored}`
    const current = underWay.get(key)
    if (current) return current
    const reading = readTopic(stream, topic, { after, limit, log }).finally(() => underWay.delete(key))
    underWay.set(key, reading)
    return reading
  }

  return {
    async publish(tenant, name, event, { now, depth }) {
      const topic = topicOf(tenant, name)
      const message: TopicMessage & { depth?: number } = {
        ...{ ...event, createdAt: now },
        ...(depth > 0 && { depth }),
      }
      const text = stringifyExact(message)
      const bytes = Buffer.byteLength(text)
      if (bytes > maxTopicEventBytes + envelopeBytes) throw tooLarge()
      budgets.spend('topicBytesPerMinute', tenant, bytes)
      budgets.spend('topicBytesPerDay', tenant, bytes)
      // Requested before the append, because an error afterwards would hide that it took effect.
      const identity = await stream.identity()
      const { deduplicationKey: key } = event
      const messageId = key === undefined ? undefined : sha256Hex(`${topic.subject}\0${key}`)
      const { sequence, duplicate } = await stream.append(topic.subject, text, messageId)
      if (!duplicate) {
        const id = topicEventId(identity, topic.subject, { createdAtMs: Date.parse(now), sequence })
        return { id, topic: name, type: event.type, deduplicated: false, createdAt: now }
      }
      const original = await stream.at(sequence)
      const earlier = original && toEvent(identity, topic, original)
      if (!earlier) throw stillBeingStored()
      const { id, type, createdAt } = earlier
      return { id, topic: name, type, deduplicated: true, createdAt }
    },

    async read(tenant, name, { after, limit, timeoutMs, signal }) {
      const topic = topicOf(tenant, name)
      // The cursor is resolved each time, since the stream may have been replaced while the poll waited.
      const readNow = async () => readShared(topic, await findCursorSequence(stream, topic, after), limit)
      if (timeoutMs === 0) return readNow()
      const waiter = waiters.add(topic.subject, timeoutMs, signal)
      try {
        for (;;) {
          const page = await readNow()
          if (page.items.length > 0 || !(await waiter.news())) return page
        }
      } finally {
        waiters.remove(waiter)
      }
    },

    close: () => tail.close(),
  }
}

/** Bytes reserved for data stored in addition to the request's body. */
const envelopeBytes = 1024

function tooLarge(): ApiError {
  return new ApiError('payload_too_large', `An event may have at most ${maxTopicEventBytes} bytes.`)
}

function stillBeingStored(): ApiError {
  return new ApiError('service_unavailable', 'The event with this deduplicationKey is still being stored.')
}
