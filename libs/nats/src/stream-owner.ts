import { JetStreamApiError } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsNames } from '@opsplane/contracts'
import {
  formatOwnedDescription,
  isDenied,
  openStreamManager,
  parseStreamOwner,
  refuseForeignStream,
  streamInfo,
} from './streams.js'

/**
 * For `connectNats`: rejects with ForeignStreamError if a stream of these names is marked as another
 * installation's, and with the client's error if JetStream does not answer.
 */
export const claimStream =
  (names: NatsNames, installationId: string) =>
  async (connection: NatsConnection): Promise<void> => {
    const manager = await openStreamManager(connection)
    for (const stream of [names.eventsStream, names.topicsStream]) {
      const info = await streamInfo(manager, stream).catch((error: unknown) => {
        // A denied request, or an error about the stream, is not a mark.
        if (isDenied(error) || error instanceof JetStreamApiError) return undefined
        throw error
      })
      if (info) refuseForeignStream(info, installationId)
    }
  }

/**
 * Marks the existing streams with the installation they belong to. `replace` takes over streams marked as
 * another's. Returns the names of the newly marked streams.
 */
export async function markStreams(
  connection: NatsConnection,
  names: NatsNames,
  installationId: string,
  replace: boolean,
): Promise<string[]> {
  const manager = await openStreamManager(connection)
  const markedStreams: string[] = []
  for (const stream of [names.eventsStream, names.topicsStream]) {
    const info = await streamInfo(manager, stream)
    if (!info) continue
    if (!replace) refuseForeignStream(info, installationId)
    if (parseStreamOwner(info.config) === installationId) continue
    await manager.streams.update(stream, {
      description: formatOwnedDescription(info.config.description, installationId),
    })
    markedStreams.push(stream)
  }
  return markedStreams
}
