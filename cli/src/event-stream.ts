import {
  type CatalogPattern,
  type EventOf,
  type EventType,
  eventCatalog,
  newId,
  patternMatches,
  type TenantScope,
} from '@opsplane/contracts'
import { connectNats, subscribeEvents } from '@opsplane/nats'
import { createLogger, startDeadline } from '@opsplane/runtime'
import { UnreachableError, usageError } from './failure.js'

export interface EventStreamOptions {
  url: string
  prefix?: string | undefined
  pattern: CatalogPattern
  /** All workspaces if absent. */
  tenant?: TenantScope | undefined
  timeoutMs: number
  signal: AbortSignal
  /** Called once for each event; returns false to stop. */
  onEvent(event: EventOf<EventType>): boolean
}

/** How long the server keeps the consumer of a tail that has disconnected, in milliseconds. */
const placeKeptMs = 300_000
const maxRemembered = 10_000

/** Follows the events of JetStream until `signal` aborts or `onEvent` returns false. Throws UnreachableError. */
export async function tailStream(options: EventStreamOptions): Promise<void> {
  const { url, prefix, pattern, tenant, timeoutMs, signal, onEvent } = options
  const log = createLogger({ service: 'cli', level: 'silent' })
  const link = connectNats({ url, name: 'opsplane-cli', log })
  try {
    const deadline = startDeadline(timeoutMs, signal)
    await link
      .ready(deadline.signal)
      .catch((error: unknown) => {
        if (!signal.aborted)
          throw new UnreachableError(
            `NATS at ${new URL(url).host} did not answer within ${timeoutMs / 1_000} s.`,
            error,
          )
      })
      .finally(deadline.clear)
    if (signal.aborted) return
    const enough = new AbortController()
    const stopped = AbortSignal.any([enough.signal, signal])
    const seen = new Set<string>()
    const subscription = subscribeEvents({
      link,
      ...(prefix !== undefined && { prefix }),
      durable: `opsplane-cli-${newId('request')}`,
      patterns: [pattern],
      ...(tenant && { tenant }),
      start: 'new',
      forgetAfterMs: placeKeptMs,
      log,
      handle: async (event) => {
        if (stopped.aborted || seen.has(event.id)) return
        remember(seen, event.id)
        if (!onEvent(event)) enough.abort()
      },
    })
    await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }))
    await subscription.close()
  } finally {
    await link.close()
  }
}

/** An event whose acknowledgement was lost is redelivered soon. */
function remember(seen: Set<string>, id: string): void {
  seen.add(id)
  const [oldest] = seen
  if (seen.size > maxRemembered && oldest !== undefined) seen.delete(oldest)
}

/** Throws CliError if the pattern matches no event type of the catalogue. */
export function parseCatalogPattern(text: string): CatalogPattern {
  if (covers(text)) return text
  throw usageError(
    `No event type matches ${text}. Such are ${Object.keys(eventCatalog).slice(0, 3).join(', ')}, or incident.*`,
  )
}

const covers = (text: string): text is CatalogPattern =>
  Object.keys(eventCatalog).some((type) => patternMatches(text, type))
