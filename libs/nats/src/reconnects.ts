import type { NatsConnection } from '@nats-io/transport-node'

type Change = 'lost' | 'back' | 'closed'

const listeners = new WeakMap<NatsConnection, Set<(change: Change) => void>>()

/**
 * Calls back whenever the connection is lost or re-established, and once it is closed. Returns a function that
 * unsubscribes.
 */
export function onConnectionChange(
  connection: NatsConnection,
  listener: (change: Change) => void,
): () => void {
  const known = listeners.get(connection) ?? watch(connection)
  known.add(listener)
  return () => known.delete(listener)
}

/**
 * Calls back whenever the connection is re-established, and once it is closed. Returns a function that
 * unsubscribes.
 */
export const onReconnect = (connection: NatsConnection, listener: () => void): (() => void) =>
  onConnectionChange(connection, (change) => {
    if (change !== 'lost') listener()
  })

function watch(connection: NatsConnection): Set<(change: Change) => void> {
  const own = new Set<(change: Change) => void>()
  listeners.set(connection, own)
  const call = (change: Change) => {
    for (const listener of own) listener(change)
  }
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') call('lost')
      if (type === 'reconnect') call('back')
    }
    call('closed')
  })()
  return own
}
