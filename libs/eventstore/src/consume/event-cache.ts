import {
  eventHeaders,
  eventOwner,
  mayPublish,
  type NatsNames,
  type PlatformEvent,
  parseExact,
  StoredEvent,
} from '@opsplane/contracts'
import { type NatsLink, SignatureError, type StreamMessage, subjectMatches } from '@opsplane/nats'
import { LRUCache } from 'lru-cache'

const maxEvents = 512
/** Larger events are parsed by each reader, so that the cache of a process stays below 32 MiB of text. */
const maxBytes = 64 * 1_024
const maxSubjects = 1_024

/** Reads the events of one consumer. */
interface EventReader {
  /** Called when a message arrives. Throws SignatureError if this reader verifies immediately. */
  arrived(message: StreamMessage): void
  /**
   * The event in a message, shared with the other readers of its link: it must not be changed. Throws SignatureError
   * before anything else of the message is checked, and a schema error if it is not a valid event.
   */
  read(message: StreamMessage): PlatformEvent
  close(): void
}

interface Shared {
  event: PlatformEvent
  /** How many readers may still request it. */
  readers: number
}

/** State shared by the readers of a link. */
interface Readers {
  /** The subjects each reader wants, or `undefined` for all. */
  filters: Set<{ subjects: readonly string[] | undefined }>
  /** Number of readers that want a subject. */
  wanted: LRUCache<string, number>
  events: LRUCache<string, Shared>
}

const readersOf = new WeakMap<NatsLink, Readers>()

/**
 * Parses a message that several consumers of a process receive once for all of them. Parsing 2.5 kB takes 18 µs,
 * and a service-desk incident has seven consumers. The event is cached until each of them has read it, and not at
 * all if there is only one: every surviving object is moved by each young-generation collection, which costs more
 * than all other handling.
 */
export function eventReader(link: NatsLink, filterSubjects?: readonly string[]): EventReader {
  const all = readersOf.get(link) ?? {
    filters: new Set(),
    wanted: new LRUCache({ max: maxSubjects }),
    events: new LRUCache({ max: maxEvents }),
  }
  readersOf.set(link, all)
  const own = { subjects: filterSubjects }
  all.filters.add(own)
  all.wanted.clear()
  return {
    arrived: () => {},
    read(message) {
      const readers = message.bytes > maxBytes ? 1 : readersFor(all, message.subject)
      return readers > 1 ? readShared(link, all.events, message, readers) : readEvent(link, message)
    },
    close() {
      all.filters.delete(own)
      all.wanted.clear()
    },
  }
}

/**
 * For a consumer that verifies all messages on arrival and reads few. It shares nothing, so no event is cached for
 * it.
 */
export function verifiedEventReader({ identity }: NatsLink, names: NatsNames): EventReader {
  return {
    arrived(message) {
      if (!identity) return
      identity.signatures.check(message, message.string())
      refuseForeign(message.header(eventHeaders.source), names.subjectEvent(message.subject)?.type ?? '')
    },
    read: (message) => StoredEvent.parse(message.json()),
    close() {},
  }
}

function readersFor({ filters, wanted }: Readers, subject: string): number {
  const known = wanted.get(subject)
  if (known !== undefined) return known
  const count = [...filters].filter(
    ({ subjects }) => !subjects?.length || subjects.some((filter) => subjectMatches(filter, subject)),
  ).length
  wanted.set(subject, count)
  return count
}

function readShared(
  link: NatsLink,
  events: LRUCache<string, Shared>,
  message: StreamMessage,
  readers: number,
): PlatformEvent {
  // The same sequence of a recreated stream is a different message.
  const key = `${message.stream}/${message.seq}/${message.storedMs}`
  const known = events.get(key)
  if (!known) {
    const event = readEvent(link, message)
    events.set(key, { event, readers: readers - 1 })
    return event
  }
  if (--known.readers <= 0) events.delete(key)
  return known.event
}

function readEvent({ identity }: NatsLink, message: StreamMessage): PlatformEvent {
  const body = message.string()
  identity?.signatures.check(message, body)
  const event = StoredEvent.parse(parseExact(body))
  if (identity) refuseForeign(message.header(eventHeaders.source), event.type)
  return event
}

/** A service may sign only its own events, so that a compromised service cannot publish as another. */
function refuseForeign(source: string | undefined, type: string): void {
  if (mayPublish(source, type)) return
  throw new SignatureError(`${source} has signed it, and ${type} is for ${eventOwner(type)} to say`)
}
