import { eventHeaders, eventOwner, mayPublish, type PlatformEvent, StoredEvent } from '@opsplane/contracts'
import { type NatsLink, SignatureError, type StreamMessage } from '@opsplane/nats'
import { LRUCache } from 'lru-cache'

const mostEvents = 512
/** What is larger is parsed by everybody: so the cache of a process stays below 32 MiB of text. */
const mostBytes = 64 * 1_024

const caches = new WeakMap<NatsLink, LRUCache<string, PlatformEvent>>()

/**
 * The event in a message, parsed once for all consumers of a process that get it, which share it and must not change it:
 * 18 µs of 2.5 kB for each of the seven that an incident of the service desk has. Throws SignatureError before anything else
 * of it is looked at, and what the schema says.
 */
export function eventOf(link: NatsLink, message: StreamMessage): PlatformEvent {
  if (message.bytes > mostBytes) return readEvent(link, message)
  const cache = caches.get(link) ?? new LRUCache<string, PlatformEvent>({ max: mostEvents })
  caches.set(link, cache)
  // The same sequence of a stream that was made anew is another message.
  const key = `${message.stream}/${message.seq}/${message.storedMs}`
  const known = cache.get(key)
  if (known) return known
  const event = readEvent(link, message)
  cache.set(key, event)
  return event
}

function readEvent({ identity }: NatsLink, message: StreamMessage): PlatformEvent {
  const body = message.string()
  identity?.signatures.check({ subject: message.subject, body, header: message.header })
  const event = StoredEvent.parse(JSON.parse(body))
  if (identity) refuseForeign(message.header(eventHeaders.source), event.type)
  return event
}

/** A service vouches for what is its own: one that was taken over says nothing in the name of the others. */
function refuseForeign(source: string | undefined, type: string): void {
  if (mayPublish(source, type)) return
  throw new SignatureError(`${source} has signed it, and ${type} is for ${eventOwner(type)} to say`)
}
