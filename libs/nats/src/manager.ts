import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'

/** What JetStream is asked through, without the client's own check, which asks for account information that a user may not see. */
export const managerOf = (connection: NatsConnection, timeoutMs = 5_000): Promise<JetStreamManager> =>
  jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs })
