import { eventHeaders, type PlatformEvent } from '@opsplane/contracts'
import type { Received } from '@opsplane/nats'
import type { Traced, Tracing } from '@opsplane/telemetry'
import { type EventOrigin, originOf } from './event-origin.js'

/** A batch of which some events may be followed. */
export interface Followed {
  /** With the spans of what is followed; undefined where nothing is. */
  origins: EventOrigin[] | undefined
  /** Applies the batch, which all of their spans last for. */
  run(work: () => Promise<void>): Promise<void>
}

const unfollowed: Followed = { origins: undefined, run: (work) => work() }

/** Makes a span of each event that is followed. What is done belongs to it where the batch has no other event. */
export function followEvents(tracing: Tracing, durable: string) {
  return (received: readonly Received<PlatformEvent>[]): Followed => {
    if (!tracing.enabled) return unfollowed
    const spans = received.map(({ message, event }) =>
      tracing.follow(durable, message.header(eventHeaders.traceparent), {
        kind: 'consumer',
        attributes: { 'opsplane.event_type': event.type },
      }),
    )
    if (spans.every(({ traceparent }) => traceparent === undefined)) return unfollowed
    return {
      origins: received.map(({ message }, at) => ({
        ...originOf(message),
        traceparent: spans[at]?.traceparent,
      })),
      run: (work) => within(spans, work),
    }
  }
}

async function within(spans: readonly Traced[], work: () => Promise<void>): Promise<void> {
  const [first, ...others] = spans
  try {
    await (first && others.length === 0 ? first.run(work) : work())
  } catch (error) {
    for (const span of spans) span.end(error)
    throw error
  }
  for (const span of spans) span.end()
}
