import { readLines, type SentEvent, sentEvents } from '@opsplane/contracts/sent-events'

/**
 * How the stream is doing: `live` while something arrives from it, `reconnecting` while it is asked for again, `ended` once it
 * is refused to this person, which only a new sign-in changes.
 */
export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'ended'

export interface StreamReaderOptions {
  /** Asks for the stream, from behind the event of that `seq` on. */
  open(after: number | undefined, signal: AbortSignal): Promise<Response>
  /** The last `seq` that was read already. */
  after: number | undefined
  /** Gets each message once, heartbeats included. */
  onMessage(message: SentEvent): void
  onState(state: StreamState): void
  /** Resolves after so many milliseconds, or earlier where asking again is worth while, as when the network is back. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** From 0 to 1. */
  random(): number
  signal: AbortSignal
}

/** Heartbeats come every 15 s: two that are missing are a connection that is gone. */
export const silenceMs = 35_000
const firstRetryMs = 1_000
const longestRetryMs = 30_000

/** Reads the stream of events until the signal, over connections that end: each goes on where the one before it stopped. */
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
  /** As the stream asks for, which already differs among readers. */
  retryMs: number
  /** Attempts since something arrived. */
  failures: number
}

/** Twice as long after each failure, and another time for each reader, so that not all come back at once. */
const retryDelay = ({ retryMs, failures }: Place, random: number): number =>
  Math.min(retryMs * 2 ** failures, longestRetryMs) * (0.5 + random / 2)

async function readOnce(options: StreamReaderOptions, place: Place): Promise<'lost' | 'refused'> {
  const { open, onMessage, onState, wait } = options
  const end = new AbortController()
  const ended = AbortSignal.any([options.signal, end.signal])
  try {
    const response = await within(wait, end, () => open(place.after, ended))
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

/** Of the person, who has no session any more or no right to this workspace; anything else passes. */
const isRefusal = (status: number): boolean => status === 401 || status === 403 || status === 404

/** Ends the connection where nothing arrives for too long: what is gone without a word is never answered otherwise. */
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
