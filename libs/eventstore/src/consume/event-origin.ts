import { eventHeaders } from '@opsplane/contracts'
import type { StreamMessage } from '@opsplane/nats'

export interface EventOrigin {
  /** The service whose log the event stands in, named as its schema is, and its position there; null where unknown. */
  source: string | null
  position: number | null
  /** Whether it may have been handled before: it was delivered before, or comes from a log. */
  redelivered: boolean
  /** What follows from it belongs to this span, where it is followed. */
  traceparent?: string | undefined
}

export function parseEventOrigin(message: StreamMessage): EventOrigin {
  const position = Number(message.header(eventHeaders.position) ?? Number.NaN)
  return {
    source: message.header(eventHeaders.source) ?? null,
    position: Number.isSafeInteger(position) ? position : null,
    redelivered: message.deliveries > 1 || message.stream === '',
  }
}
