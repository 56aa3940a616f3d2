import type { NatsConnection } from '@nats-io/transport-node'
import { onConnectionChange } from '../reconnects.js'

/**
 * Sends a consumer's acknowledgements. The server applies an acknowledgement by the message's sequence: after the
 * consumer was recreated, with or without its stream, it would apply to a different message. After a lost
 * connection, acknowledgements therefore wait until the server is known to have the same consumer.
 */
export interface Acknowledgements {
  /** `isFinal`: it settles the delivery, so it may wait; a progress signal is dropped instead. */
  send(respond: () => void, isFinal: boolean): void
  /**
   * Determines when the server's consumer was created, and sends the waiting acknowledgements if it is the same
   * consumer. Rejects if the connection is lost meanwhile.
   */
  verify(connection: NatsConnection, findCreated: () => Promise<string>): Promise<void>
  /** The consumer may have been recreated: acknowledgements wait for `verify`. */
  suspend(): void
  isSuspended(): boolean
  close(): void
}

/** `onAnother` is called when the server has a different consumer; waiting acknowledgements are dropped then. */
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
