import { readLines, type SentEvent, sentEvents } from '@opsplane/contracts/sent-events'

/**
 * State of the stream: `live` while messages arrive, `reconnecting` between connections, `ended` after it was refused to
 * this person; only a new sign-in changes that.
 */
export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'ended'

export interface StreamReaderOptions {
  /** Opens the stream after the event with this `seq`. */
  open(after: number | undefined, signal: AbortSignal): Promise<Response>
  /** The last `seq` that was already read. */
  after: number | undefined
  /** Called once for each message, including heartbeats. */
  onMessage(message: SentEvent): void
  onState(state: StreamState): void
  /** Resolves after `ms` milliseconds, or earlier if a new attempt is worthwhile, for example when the network is back. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** A random number from 0 to 1. */
  random(): number
  signal: AbortSignal
}

/** Heartbeats are sent every 15 s: if two are missing, the connection is considered lost. */
export const silenceMs = 35_000
const firstRetryMs = 1_000
const longestRetryMs = 30_000

/** Reads the event stream until the signal aborts. Reconnects when a connection ends, and continues after the last event. */
export async function readStream(options: StreamReaderOptions): Promise<void> {
  const { onState, wait, random, signal } = options
  const place: Place = { after: options.after, retryMs: firstRetryMs, failures: 0 }
  onState('connecting')
  while (!signal.aborted) {
    const outcome = await readOnce(options, place).catch(() => 'lost' as const)
    if (signal.aborted) return
    if (outcome === 'refused') return onState('ended')
    onState('reconnecting')
    await wait(retryDelay(place, random()), signal)
    place.failures++
  }
}

interface Place {
  after: number | undefined
  /** Delay requested by the stream, which already differs between clients. */
  retryMs: number
  /** Number of failed attempts since the last message. */
  failures: number
}

/** Doubles after each failure, with random jitter, so that clients do not reconnect simultaneously. */
const retryDelay = ({ retryMs, failures }: Place, random: number): number =>
  Math.min(retryMs * 2 ** failures, longestRetryMs) * (0.5 + random / 2)

async function readOnce(options: StreamReaderOptions, place: Place): Promise<'lost' | 'refused'> {
  const { open, onMessage, onState, wait } = options
  const end = new AbortController()
  const signal = AbortSignal.any([options.signal, end.signal])
  try {
    const response = await within(wait, end, () => open(place.after, signal))
    if (isRefusal(response.status)) return 'refused'
    if (!response.ok || response.body === null) return 'lost'
    const lines = readLines(response.body, (read) => within(wait, end, read))
    for await (const message of sentEvents(lines)) {
      place.failures = 0
      place.after = message.id ?? place.after
      place.retryMs = message.retryMs ?? place.retryMs
      onState('live')
      onMessage(message)
    }
    return 'lost'
  } finally {
    end.abort()
  }
}

/** The person has no session any more, or no access to this workspace; all other errors are temporary. */
const isRefusal = (status: number): boolean => status === 401 || status === 403 || status === 404

/** Ends the connection if nothing arrives within `silenceMs`: a silently lost connection would otherwise never be detected. */
async function within<Result>(
  wait: StreamReaderOptions['wait'],
  connection: AbortController,
  work: () => Promise<Result>,
): Promise<Result> {
  const done = new AbortController()
  const result = work()
  const silence = wait(silenceMs, done.signal).then(() => {
    if (done.signal.aborted) return new Promise<never>(() => undefined)
    connection.abort()
    throw new Error('Nothing has arrived for too long.')
  })
  try {
    return await Promise.race([result, silence])
  } finally {
    done.abort()
  }
}
