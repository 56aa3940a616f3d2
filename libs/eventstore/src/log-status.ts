import { isoText, openClient } from '@opsplane/postgres'

/** Status of one service's log and consumers. */
export interface LogStatus {
  events: number
  /** Position of the last event; 0 if there is none. */
  lastPosition: number
  /** Number of events the relay has not published yet. */
  unpublished: number
  /** Time of the oldest of these events, ISO 8601; `null` if there are none. */
  oldestUnpublishedAt: string | null
  /** Number of messages given up, by consumer; `relay` stands for events too large for NATS. */
  deadLetters: { consumer: string; count: number }[]
  checkpoints: { consumer: string; streamSequence: number; handled: number; updatedAt: string }[]
}

/** Reads the status of one service as of a single moment. Counts the whole log, so it is not suitable for polling. */
export async function logStatus(options: { databaseUrl: string; schema: string }): Promise<LogStatus> {
  const { schema } = options
  const sql = openClient(options.databaseUrl, {
    schema,
    max: 1,
    applicationName: `opsplane-${schema}-status`,
    settings: { statement_timeout: '0' },
  })
  try {
    const [row] = await sql.unsafe<LogStatus[]>(
      `select log.*,
         coalesce((select json_agg(d order by consumer) from (
           select consumer, count(*)::int as count from dead_letters group by consumer) d), '[]') as "deadLetters",
         coalesce((select json_agg(c order by consumer) from (
           select consumer, stream_sequence as "streamSequence", handled, ${isoText('updated_at')} as "updatedAt"
           from consumer_checkpoints where handled > 0) c), '[]') as checkpoints
       from (
         select (select count(*)::int from events) as events, coalesce(max(position), 0)::float8 as "lastPosition",
           (select count(*)::int from outbox) as unpublished,
           (select ${isoText('created_at')} from events where id =
             (select event_id from outbox order by position limit 1)) as "oldestUnpublishedAt"
         from events) log`,
    )
    if (!row) throw new Error(`the log of ${schema} has no status`)
    return { ...row }
  } finally {
    await sql.end({ timeout: 5 })
  }
}
