import { DeliverPolicy, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { openStreamManager, streamInfo } from './streams.js'

const batch = 5_000
const waitMs = 5_000

/**
 * Calls back with the headers of every message of a stream, in stream order, without loading the bodies; never if
 * there is no stream.
 */
export async function readHeaders(
  connection: NatsConnection,
  stream: string,
  onMessage: (header: (name: string) => string | undefined) => void,
): Promise<void> {
  if (!(await streamInfo(await openStreamManager(connection), stream))) return
  // Without the client's own check, which requests account information.
  const consumer = await jetstream(connection, { checkAPI: false }).consumers.get(stream, {
    deliver_policy: DeliverPolicy.All,
    headers_only: true,
  })
  try {
    for (let pending = (await consumer.info()).num_pending; pending > 0; ) {
      let received = 0
      for await (const { headers, info } of await consumer.fetch({ max_messages: batch, expires: waitMs })) {
        onMessage((name) => headers?.get(name) || undefined)
        received++
        pending = info.pending
        if (pending === 0) break
      }
      if (received === 0) pending = (await consumer.info(true)).num_pending
    }
  } finally {
    await consumer.delete()
  }
}
