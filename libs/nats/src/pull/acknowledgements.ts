import type { NatsConnection } from '@nats-io/transport-node'
import { onConnectionChange } from '../reconnects.js'

/**
 * Sends what a consumer answers to its messages. The server takes an answer by the sequence of the message: once the consumer was
 * created again, with or without its stream, it would count for another message. So when the connection was lost, answers wait
 * until the server is known to have the same consumer.
 */
export interface Acknowledgements {
  /** `isFinal`: it settles the delivery, so it may wait; a sign of life is dropped instead. */
  send(respond: () => void, isFinal: boolean): void
  /**
   * Finds out when the consumer that the server has was created, and sends what waits if it is the same. Rejects where the connection
   * is lost meanwhile.
   */
  verify(connection: NatsConnection, findCreated: () => Promise<string>): Promise<void>
  /** The consumer may be another one: answers wait for `verify`. */
  suspend(): void
  isSuspended(): boolean
  close(): void
}

/** `onAnother` is called when the server has another consumer, and what waited for the former one is dropped. */
export function acknowledgements(onAnother: () => void): Acknowledgements {
  let created: string | undefined
  let waiting: (() => void)[] | undefined
  let followed: NatsConnection | undefined
  let forget = () => {}
  let changes = 0

  const suspend = () => {
    waiting ??= []
  }
  const follow = (connection: NatsConnection) => {
    if (connection === followed) return
    forget()
    followed = connection
    forget = onConnectionChange(connection, () => {
      changes++
      suspend()
    })
  }

  return {
    suspend,
    isSuspended: () => waiting !== undefined,
    send(respond, isFinal) {
      if (!waiting) respond()
      else if (isFinal) waiting.push(respond)
    },
    async verify(connection, findCreated) {
      follow(connection)
      const before = changes
      const found = await findCreated()
      if (changes !== before) throw new Error('the connection was lost while the consumer was looked up')
      const due = (created === found && waiting) || []
      if (created !== found) onAnother()
      created = found
      waiting = undefined
      for (const respond of due) respond()
    },
    close: () => forget(),
  }
}
