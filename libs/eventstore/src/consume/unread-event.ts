import { eventHeaders, type NatsNames, type PlatformEvent, type SubjectEvent } from '@opsplane/contracts'
import { type ReadableEvent, type Received, type StreamMessage, UnreadableMessageError } from '@opsplane/nats'

/** An event of which only the subject was parsed: nothing proves yet that a service published it. */
export interface UnreadEvent extends SubjectEvent {
  /** Throws if the message is not an event or not authentic; the message is then given up. */
  read(): PlatformEvent
}

/**
 * A message that is parsed when its event is requested. `undefined` if it must be parsed immediately, because its
 * headers do not say in which order it must be handled.
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

/**
 * A class, because each object literal with an accessor has a separate hidden class that retains what it refers to
 * (ADR 115).
 */
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

/** The last message of each source: its log position also covers the source's earlier messages. */
export function lastOfEachSource<Each extends { message: StreamMessage }>(received: readonly Each[]): Each[] {
  return [...new Map(received.map((each) => [each.message.header(eventHeaders.source), each])).values()]
}
