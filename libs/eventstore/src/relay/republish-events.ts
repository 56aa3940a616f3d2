import type { NatsNames } from '@opsplane/contracts'
import {
  type EventSignatures,
  ensureStreams,
  type NatsLink,
  openAckInbox,
  type StreamOptions,
} from '@opsplane/nats'
import { openClient } from '@opsplane/postgres'
import { type LoggedEvent, loggedEventColumns } from '../logged-events.js'
import { publishEvent } from './publish-event.js'

interface RepublishOptions {
  databaseUrl: string
  schema: string
  link: NatsLink
  /** Signatures of the service whose log it is. */
  signatures?: EventSignatures
  names: NatsNames
  /** First position to publish; 1 if absent. */
  fromPosition?: number
  /** Last position to publish; if absent, the last one when the republication begins. */
  toPosition?: number
  streams?: StreamOptions
  /** Called after every batch with the number of events published so far. */
  onProgress?(events: number): void
}

const batchSize = 500
const ackTimeoutMs = 5_000

/**
 * Publishes a range of the log again, in order within each aggregate, at an operator's request; events that a
 * stream has lost are republished by the relay itself. The stream recognizes events within its duplicate window by
 * their ids. Returns the number of published events; throws if publishing one fails, and can then be run again.
 */
export async function republishEvents(options: RepublishOptions): Promise<{ published: number }> {
  const { link, names, schema } = options
  await ensureStreams(link, names, options.streams)
  const connection = await link.ready()
  const inbox = openAckInbox(connection, ackTimeoutMs)
  // Only the relay knows up to where events are acknowledged.
  const publishing = { inbox, names, schema, connection, floor: 0, signatures: options.signatures }
  let published = 0
  const publishInOrder = async (events: LoggedEvent[]) => {
    for (const event of events) if (await publishEvent(event, publishing)) published++
  }
  try {
    for await (const events of batches(options)) {
      await Promise.all([...byAggregate(events)].map(publishInOrder))
      options.onProgress?.(published)
    }
    return { published }
  } finally {
    inbox.close()
  }
}

async function* batches({ databaseUrl, schema, fromPosition = 1, toPosition }: RepublishOptions) {
  const sql = openClient(databaseUrl, { schema, max: 1, applicationName: `opsplane-${schema}-reseed` })
  try {
    const [end] = await sql<{ last: string }[]>`select coalesce(max(position), 0) as last from events`
    const last = String(toPosition ?? end?.last ?? 0)
    for (let after: string | undefined = String(fromPosition - 1); after !== undefined; ) {
      const events: LoggedEvent[] = await sql.unsafe(
        `select ${loggedEventColumns} from events as e
         where e.position > $1::text::bigint and e.position <= $2::text::bigint
         order by e.position limit ${batchSize}`,
        [after, last],
        { prepare: true },
      )
      if (events.length > 0) yield events
      after = events.at(-1)?.position
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

function byAggregate(events: LoggedEvent[]): Iterable<LoggedEvent[]> {
  const streams = new Map<string, LoggedEvent[]>()
  for (const event of events) {
    const stream = streams.get(event.streamId)
    if (stream) stream.push(event)
    else streams.set(event.streamId, [event])
  }
  return streams.values()
}
