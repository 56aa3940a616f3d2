import { createInbox, type NatsConnection } from '@nats-io/transport-node'

const prefixes = new WeakMap<NatsConnection, string>()

/** Prefix of all subjects on which a user receives replies. */
export const userInbox = (user: string) => `_INBOX_${user}`

export function setInboxPrefix(connection: NatsConnection, prefix: string): void {
  prefixes.set(connection, prefix)
}

/** A new reply subject for this connection. */
export const createUserInbox = (connection: NatsConnection): string => createInbox(prefixes.get(connection))
