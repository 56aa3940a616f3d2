import { createInbox, type NatsConnection } from '@nats-io/transport-node'

const prefixes = new WeakMap<NatsConnection, string>()

/** Below it are all subjects under which a user gets answers. */
export const userInbox = (user: string) => `_INBOX_${user}`

export function setInboxPrefix(connection: NatsConnection, prefix: string): void {
  prefixes.set(connection, prefix)
}

/** A subject of its own for answers over this connection. */
export const createUserInbox = (connection: NatsConnection): string => createInbox(prefixes.get(connection))
