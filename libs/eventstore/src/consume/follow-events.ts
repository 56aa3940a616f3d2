import { eventHeaders, type PlatformEvent } from '@opsplane/contracts'
import type { Received } from '@opsplane/nats'
import { registerCause, type Traced, type Tracing } from '@opsplane/telemetry'
import { type EventOrigin, parseEventOrigin } from './event-origin.js'

/** A batch of which some events may be traced. */
interface Followed {
  /** The origins with their spans; `undefined` if no event is traced. */
  origins: EventOrigin[] | undefined
  /** Applies the batch; all spans end when it is done. */
  run(work: () => Promise<void>): Promise<void>
}

const unfollowed: Followed = { origins: undefined, run: (work) => work() }

/** Creates a span for each traced event. Work caused by the event belongs to its span. */
export function followEvents(tracing: Tracing, durable: string) {
  const spanOf = (received: Received<PlatformEvent>): Traced | undefined => {
    const traceparent = received.message.header(eventHeaders.traceparent)
    // An event that is not traced may be skipped unread, so it is not parsed here.
    if (traceparent === undefined) return undefined
    return tracing.follow(durable, traceparent, {
      kind: 'consumer',
      attributes: { 'opsplane.event_type': received.event.type },
    })
  }
  return (received: readonly Received<PlatformEvent>[]): Followed => {
    if (!tracing.enabled) return unfollowed
    const spans = received.map(spanOf)
    if (!spans.some((span) => span?.traceparent !== undefined)) return unfollowed
    return {
      origins: received.map(({ message }, at) => ({
        ...parseEventOrigin(message),
        traceparent: spans[at]?.traceparent,
      })),
      run: (work) => within(received, spans, work),
    }
  }
}

async function within(
  received: readonly Received<PlatformEvent>[],
  spans: readonly (Traced | undefined)[],
  work: () => Promise<void>,
): Promise<void> {
  const over = received.flatMap((each, at) => {
    const span = spans[at]
    return span ? [{ span, release: registerCause(each.event.id, span) }] : []
  })
  const end = (error?: unknown) => {
    for (const { span, release } of over) {
      release()
      span.end(error)
    }
  }
  try {
    await work()
  } catch (error) {
    end(error)
    throw error
  }
  end()
}
