import { ApiError, parseExact, type TopicEvent, TopicMessage } from '@opsplane/contracts'
import { parseTopicEventId, type StoredMessage, type StreamLog, topicEventId } from '@opsplane/nats'
import type { Logger } from '@opsplane/runtime'

/** A topic of one workspace and environment. */
export interface Topic {
  name: string
  subject: string
}

export interface TopicPage {
  items: TopicEvent[]
  hasMore: boolean
}

/** Maximum bytes of a page; it ends with the event that exceeds the limit. */
const maxPageBytes = 4 * 1024 * 1024

/** Sequence of the event that the cursor names; 0 without a cursor. Throws `invalid_cursor`. */
export async function findCursorSequence(
  log: StreamLog,
  topic: Topic,
  after: string | undefined,
): Promise<number> {
  if (after === undefined) return 0
  const place = parseTopicEventId(await log.identity(), topic.subject, after)
  if (place) return place.sequence
  // The stream may have just been recreated.
  log.forget()
  const again = parseTopicEventId(await log.identity(), topic.subject, after)
  if (!again) throw invalidCursor()
  return again.sequence
}

/** The oldest events after a sequence. Makes one request to NATS per event, and one for the newest. */
export async function readTopic(
  stream: StreamLog,
  topic: Topic,
  { after, limit, log }: { after: number; limit: number; log: Logger },
): Promise<TopicPage> {
  const newest = await stream.last(topic.subject)
  if (!newest || newest.sequence === after) return { items: [], hasMore: false }
  // The newest stored event is older than that of the cursor, so the cursor does not belong to this stream.
  if (newest.sequence < after) throw invalidCursor()
  const identity = await stream.identity()
  const items: TopicEvent[] = []
  let at = after
  for (let bytes = 0; items.length < limit && bytes < maxPageBytes && at < newest.sequence; ) {
    const isNewest = at + 1 === newest.sequence
    const message = isNewest ? newest : await stream.next(topic.subject, at + 1)
    if (!message) return { items, hasMore: false }
    at = message.sequence
    bytes += message.text.length
    const event = toEvent(identity, topic, message)
    if (event) items.push(event)
    else
      log.warn(
        { subject: topic.subject, sequence: at },
        'ignored a message of the topic stream that is no topic event',
      )
  }
  return { items, hasMore: at < newest.sequence }
}

export function toEvent(stream: string, topic: Topic, message: StoredMessage): TopicEvent | undefined {
  const parsed = parseMessage(message.text)
  if (!parsed) return undefined
  const createdAtMs = Date.parse(parsed.createdAt)
  const id = topicEventId(stream, topic.subject, { createdAtMs, sequence: message.sequence })
  return { id, topic: topic.name, ...parsed }
}

function parseMessage(text: string): TopicMessage | undefined {
  try {
    return TopicMessage.parse(parseExact(text))
  } catch {
    return undefined
  }
}

function invalidCursor(): ApiError {
  return new ApiError('invalid_cursor', 'The cursor is not the id of an event of this topic.', {
    details: [
      { in: 'query', path: '/after', code: 'invalid_cursor', message: 'Start again without a cursor.' },
    ],
  })
}
