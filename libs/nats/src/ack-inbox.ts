import { JetStreamApiError } from '@nats-io/jetstream'
import { type Msg, type MsgHdrs, type NatsConnection, TimeoutError } from '@nats-io/transport-node'
import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import { NoStreamError } from './errors.js'
import { createUserInbox } from './inbox.js'

/** The stream's acknowledgement of a message. */
export interface PublishAck {
  sequence: number
  /** The stream already had a message with this id within its duplicate window; the sequence is that message's. */
  duplicate: boolean
}

/** Publishes to streams over one connection, and returns each acknowledgement to its caller. */
export interface AckInbox {
  /**
   * Rejects with TimeoutError if there is no answer in time, with NoStreamError if no stream accepts the subject,
   * and with JetStreamApiError if the stream rejects the message or has not decided yet on one with the same id. It
   * is then unknown whether the message is in the stream.
   */
  publish(subject: string, body: string, headers: MsgHdrs): Promise<PublishAck>
  /** Pending publishes fail with a TimeoutError, and so do later ones. */
  close(): void
}

interface Waiting {
  deadline: number
  resolve(ack: PublishAck): void
  reject(error: Error): void
}

/**
 * Cheaper than one client request per message: all messages share one subscription and one timer, which needs a
 * third of the processor time.
 */
export function openAckInbox(
  connection: NatsConnection,
  timeoutMs: number,
  timers: Timers = systemTimers,
): AckInbox {
  const inbox = createUserInbox(connection)
  const waiting = new Map<string, Waiting>()
  let last = 0
  let closed = false

  const settle = (message: Msg) => {
    const token = message.subject.slice(inbox.length + 1)
    const pending = waiting.get(token)
    if (!pending) return
    waiting.delete(token)
    try {
      pending.resolve(parseAck(message))
    } catch (error) {
      pending.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (!error) settle(message)
    },
  })
  let timer: Timer | undefined
  /** Rejects publishes that have waited too long, and stops the timer if none is waiting. */
  const expire = (now: number) => {
    if (waiting.size === 0) {
      timers.clearInterval(timer)
      timer = undefined
    }
    for (const [token, { deadline, reject }] of waiting) {
      // The map is in publishing order, so the remaining deadlines are later.
      if (deadline > now) return
      waiting.delete(token)
      reject(new TimeoutError())
    }
  }
  const watch = () => {
    timer ??= timers.setInterval(() => expire(timers.now()), Math.min(1_000, timeoutMs / 2))
  }

  return {
    publish: (subject, body, headers) =>
      new Promise((resolve, reject) => {
        // The answer would not be received, and the wait would never end.
        if (closed) throw new TimeoutError()
        const token = String(++last)
        waiting.set(token, { deadline: timers.now() + timeoutMs, resolve, reject })
        watch()
        try {
          connection.publish(subject, body, { reply: `${inbox}.${token}`, headers })
        } catch (error) {
          waiting.delete(token)
          throw error
        }
      }),
    close() {
      closed = true
      timers.clearInterval(timer)
      if (!connection.isClosed()) subscription.unsubscribe()
      expire(Number.POSITIVE_INFINITY)
    },
  }
}

const noResponders = 503
/** The error of servers since 2.11; 2.10 answers with a duplicate of sequence 0 instead. */
const undecided = { code: 409, err_code: 10_158, description: 'duplicate message id is in process' }

function parseAck(message: Msg): PublishAck {
  if (message.data.length === 0 && message.headers?.code === noResponders) throw new NoStreamError()
  const answer = message.json<{
    seq: number
    duplicate?: boolean
    error?: { code: number; description: string; err_code: number }
  }>()
  if (answer.error) throw new JetStreamApiError(answer.error)
  // A cluster has received the message without reaching a quorum: whether it will be in the stream is unknown.
  if (answer.duplicate && answer.seq === 0) throw new JetStreamApiError(undecided)
  return { sequence: answer.seq, duplicate: answer.duplicate === true }
}
