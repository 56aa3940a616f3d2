import { eventHeaders } from '@opsplane/contracts'
import type { StreamMessage } from '@opsplane/nats'

export interface EventOrigin {
  /** The service whose log contains the event, named by its schema; `null` if unknown. */
  source: string | null
  position: number | null
  /** Whether it may have been handled before: it was delivered before, or comes from a log. */
  redelivered: boolean
  /** Parent span for the work this event causes, if the event is traced. */
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
