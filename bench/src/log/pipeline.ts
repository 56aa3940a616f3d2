import { setTimeout as delay } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { natsNames } from '@opsplane/contracts'
import type { Cluster } from '@opsplane/local'
import { parseServerUrl } from '@opsplane/nats'

const intervalMs = 100

/** Waits until every consumer of the event stream has acknowledged all its events. */
export async function consumersCaughtUp({ info }: Cluster): Promise<void> {
  const connection = await connect(parseServerUrl(info.natsUrl))
  try {
    const manager = await jetstreamManager(connection)
    for (;;) {
      let behind = 0
      for await (const consumer of manager.consumers.list(natsNames().eventsStream))
        behind += consumer.num_pending + consumer.num_ack_pending
      if (behind === 0) return
      await delay(intervalMs)
    }
  } finally {
    await connection.close()
  }
}
