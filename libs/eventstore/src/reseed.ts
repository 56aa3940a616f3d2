import type { NatsNames } from '@opsplane/contracts'
import { ensureStreams, type NatsLink, type StreamOptions } from '@opsplane/nats'
import { openClient } from '@opsplane/postgres'
import { type LoggedEvent, loggedEventColumns } from './logged-events.js'
import { publishEvents } from './publish-events.js'

export interface ReseedOptions {
  databaseUrl: string
  schema: string
  link: NatsLink
  names: NatsNames
  /** First position to publish; 1 unless given. */
  fromPosition?: number
  /** Last position to publish; the last one there is when the reseed begins unless given. */
  toPosition?: number
  streams?: StreamOptions
  /** Told how many events were published so far, after every batch. */
  onProgress?(events: number): void
}

const batchSize = 500

/**
 * Publishes a range of the log again, in order, into a JetStream that has lost it; the streams are created first.
 * Events the stream still has within its duplicate window are recognized by their ids. Returns how many events
 * were published; throws when one cannot be, and may then be run again.
 */
export async function reseed(options: ReseedOptions): Promise<{ published: number }> {
  const { link, names } = options
  await ensureStreams(link, names, options.streams)
  const sql = openClient(options.databaseUrl, {
    schema: options.schema,
    max: 1,
    applicationName: `opsplane-${options.schema}-reseed`,
  })
  try {
    const [end] = await sql<{ last: string }[]>`select coalesce(max(position), 0) as last from events`
    const last = String(options.toPosition ?? end?.last ?? 0)
    let after = String((options.fromPosition ?? 1) - 1)
    let published = 0
    for (;;) {
      const events = await sql.unsafe<LoggedEvent[]>(
        `select ${loggedEventColumns} from events as e
         where e.position > $1::text::bigint and e.position <= $2::text::bigint
         order by e.position limit ${batchSize}`,
        [after, last],
        { prepare: true },
      )
      const newest = events.at(-1)
      if (!newest) return { published }
      const outcome = await publishEvents(await link.ready(), names, events)
      if (outcome.failure !== undefined) throw outcome.failure
      published += outcome.published.length
      options.onProgress?.(published)
      after = newest.position
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}
