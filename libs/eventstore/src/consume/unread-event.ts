import { eventHeaders, type NatsNames, type PlatformEvent, type SubjectEvent } from '@opsplane/contracts'
import { type ReadableEvent, type Received, type StreamMessage, UnreadableMessageError } from '@opsplane/nats'

/** An event of which only the subject was looked at: nothing proves yet that a service has said it. */
export interface UnreadEvent extends SubjectEvent {
  /** Throws where it is no event, or not authentic: it is given up then. */
  read(): PlatformEvent
}

/**
 * A message that is read when its event is asked for. Undefined where it is to be read at once, as it does not say what
 * order it is to be kept in.
 */
export function unreadMessage(
  names: NatsNames,
  message: StreamMessage,
  read: (message: StreamMessage) => PlatformEvent,
): ReadableEvent<PlatformEvent> | undefined {
  const tenant = names.subjectEvent(message.subject)?.workspaceId
  const stream = message.header(eventHeaders.stream)
  if (tenant === undefined || stream === undefined) return undefined
  return new UnreadMessage(message, `${tenant}/${stream}`, tenant, read)
}

/** A class, as an object literal with an accessor would have a hidden class of its own, which keeps what it refers to (ADR 115). */
class UnreadMessage implements ReadableEvent<PlatformEvent> {
  readonly #read: (message: StreamMessage) => PlatformEvent
  #event: PlatformEvent | undefined

  constructor(
    readonly message: StreamMessage,
    readonly queueKey: string,
    readonly tenant: string,
    read: (message: StreamMessage) => PlatformEvent,
  ) {
    this.#read = read
  }

  get event(): PlatformEvent {
    try {
      this.#event ??= this.#read(this.message)
      return this.#event
    } catch (error) {
      throw new UnreadableMessageError(error)
    }
  }
}

export function toUnreadEvent(names: NatsNames, received: Received<PlatformEvent>): UnreadEvent {
  const { workspaceId, environment, type } = names.subjectEvent(received.message.subject) ?? received.event
  return { workspaceId, environment, type, read: () => received.event }
}

/** Of each source the last one: what it says of its log holds for those before it. */
export function lastOfEachSource<Each extends { message: StreamMessage }>(received: readonly Each[]): Each[] {
  return [...new Map(received.map((each) => [each.message.header(eventHeaders.source), each])).values()]
}
