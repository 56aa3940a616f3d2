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
  /** Of the service whose log it is. */
  signatures?: EventSignatures
  names: NatsNames
  /** First position to publish; 1 unless given. */
  fromPosition?: number
  /** Last position to publish; the last one there is when the reseed begins unless given. */
  toPosition?: number
  streams?: StreamOptions
  /** Called with how many events were published so far, after every batch. */
  onProgress?(events: number): void
}

const batchSize = 500
const ackTimeoutMs = 5_000

/**
 * Publishes a range of the log again, in order within each aggregate, because an operator wants it there again; what a
 * stream has lost the relay publishes by itself. Events the stream still has within its duplicate window are recognized
 * by their ids. Returns how many were published; throws when one cannot be, and may then be run again.
 */
export async function republishEvents(options: RepublishOptions): Promise<{ published: number }> {
  const { link, names, schema } = options
  await ensureStreams(link, names, options.streams)
  const connection = await link.ready()
  const inbox = openAckInbox(connection, ackTimeoutMs)
  // What is acknowledged is the relay's to know.
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
