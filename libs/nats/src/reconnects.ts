import type { NatsConnection } from '@nats-io/transport-node'

const listeners = new WeakMap<NatsConnection, Set<() => void>>()

/** Calls back whenever the connection was lost and is there again, and once it is closed. Returns how to stop that. */
export function onReconnect(connection: NatsConnection, listener: () => void): () => void {
  const known = listeners.get(connection) ?? watch(connection)
  known.add(listener)
  return () => known.delete(listener)
}

function watch(connection: NatsConnection): Set<() => void> {
  const own = new Set<() => void>()
  listeners.set(connection, own)
  const call = () => {
    for (const listener of own) listener()
  }
  void (async () => {
    for await (const { type } of connection.status()) if (type === 'reconnect') call()
    call()
  })()
  return own
}
