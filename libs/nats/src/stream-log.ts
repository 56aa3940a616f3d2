import { type JetStreamClient, type JetStreamManager, jetstream, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { ApiError } from '@opsplane/contracts'
import type { NatsLink } from './link.js'
import { onReconnect } from './reconnects.js'
import { isMissingStream, openStreamManager, streamIdentity } from './streams.js'

export interface StoredMessage {
  sequence: number
  text: string
}

/**
 * A stream that requests read and append to. Everything throws `service_unavailable` if the server is unavailable
 * or does not answer in time; it is then unknown whether an append took effect.
 */
export interface StreamLog {
  /** The stream's identity: changes if it was lost and created again, but not if it was restored from a backup. */
  identity(): Promise<string>
  /** When the server created or restored the stream; may also change after a server restart. */
  created(): Promise<string>
  /** Appends and waits for the acknowledgement. A duplicate has the sequence of the message it repeats. */
  append(subject: string, text: string, messageId?: string): Promise<{ sequence: number; duplicate: boolean }>
  at(sequence: number): Promise<StoredMessage | null>
  /** The newest message of a subject; guaranteed to include every acknowledged message. */
  last(subject: string): Promise<StoredMessage | null>
  /** The first message of a subject at or after a sequence. */
  next(subject: string, from: number): Promise<StoredMessage | null>
  /** Discards the cached identity. */
  forget(): void
}

const timeoutMs = 5_000
const keptMs = 5_000

interface Handles {
  js: JetStreamClient
  manager: JetStreamManager
}

/** `restore` recreates the stream when the server answers that it does not exist; the request is then repeated. */
export function streamLog(link: NatsLink, stream: string, restore?: () => Promise<void>): StreamLog {
  const handles = new WeakMap<NatsConnection, Handles>()
  let about: { identity: string; created: string; until: number } | undefined
  let restoring: Promise<void> | undefined

  const open = async (): Promise<Handles> => {
    // Otherwise the client would hold back the request until the server is available again.
    if (!link.connected()) throw unavailable()
    const connection = await link.ready()
    const known = handles.get(connection)
    if (known) return known
    const made = {
      js: jetstream(connection, { timeout: timeoutMs }),
      manager: await openStreamManager(connection, timeoutMs),
    }
    handles.set(connection, made)
    about = undefined
    onReconnect(connection, () => {
      about = undefined
    })
    return made
  }
  const restored = (make: () => Promise<void>) => {
    about = undefined
    restoring ??= make().finally(() => {
      restoring = undefined
    })
    return restoring
  }
  const queryStream = async <T>(question: (handles: Handles) => Promise<T>): Promise<T> => {
    try {
      const handles = await open()
      try {
        return await question(handles)
      } catch (error) {
        // A request to a missing stream has no effect, so repeating it is safe.
        if (!restore || !isMissingStream(error)) throw error
        await restored(restore)
        return await question(handles)
      }
    } catch (error) {
      about = undefined
      throw error instanceof ApiError ? error : unavailable(error)
    }
  }
  // Answered by the leader, which has every acknowledged message; a direct get may be answered by a follower.
  const fromLeader = (
    query: { seq: number } | { last_by_subj: string } | { next_by_subj: string; seq: number },
  ) => queryStream(async ({ manager }) => stored(await manager.streams.getMessage(stream, query)))

  const described = async () => {
    if (about && about.until > performance.now()) return about
    const info = await queryStream(({ manager }) => manager.streams.info(stream))
    about = { identity: streamIdentity(info), created: info.created, until: performance.now() + keptMs }
    return about
  }

  return {
    identity: async () => (await described()).identity,
    created: async () => (await described()).created,
    append: (subject, text, messageId) =>
      queryStream(async ({ js }) => {
        const ack = await js.publish(subject, text, {
          expect: { streamName: stream },
          ...(messageId !== undefined && { msgID: messageId }),
        })
        return { sequence: ack.seq, duplicate: ack.duplicate }
      }),
    at: (sequence) => fromLeader({ seq: sequence }),
    last: (subject) => fromLeader({ last_by_subj: subject }),
    async next(subject, from) {
      const query = { next_by_subj: subject, seq: from }
      const found = await queryStream(({ manager }) => manager.direct.getMessage(stream, query))
      return found ? { sequence: found.seq, text: found.string() } : fromLeader(query)
    },
    forget() {
      about = undefined
    },
  }
}

function stored(message: StoredMsg | null): StoredMessage | null {
  return message && { sequence: message.seq, text: message.string() }
}

function unavailable(cause?: unknown): ApiError {
  return new ApiError('service_unavailable', 'The event bus cannot be reached at the moment.', { cause })
}
