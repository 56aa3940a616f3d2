import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { natsNames } from '@opsplane/contracts'
import { parseServerUrl } from '@opsplane/testing'

/** A busy server may take longer than the default client timeout of 5 s. */
export const clientTimeoutMs = 60_000

/**
 * The ids of all events in the event stream, in order. Throws if the stream does not exist. `natsPrefix` is that of
 * the installation.
 */
export async function listEventsInStream(natsUrl: string, natsPrefix?: string): Promise<string[]> {
  const connection = await connect(parseServerUrl(natsUrl))
  try {
    const stream = natsNames(natsPrefix).eventsStream
    const { state } = await (await jetstreamManager(connection, { timeout: clientTimeoutMs })).streams.info(
      stream,
    )
    const ids: string[] = []
    if (state.messages === 0) return ids
    const consumer = await jetstream(connection, { timeout: clientTimeoutMs }).consumers.get(stream)
    for await (const message of await consumer.consume()) {
      ids.push(message.json<{ id: string }>().id)
      if (message.seq >= state.last_seq) break
    }
    return ids
  } finally {
    await connection.close()
  }
}
