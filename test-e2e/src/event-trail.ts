import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { natsNames } from '@opsplane/contracts'
import { parseServerUrl } from '@opsplane/testing'

/** A busy server may take longer than the 5 s that clients give it. */
export const clientTimeoutMs = 60_000

/** The ids of all that stands in the stream of events, in its order. Throws where there is no stream. `natsPrefix` is that of the installation. */
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
