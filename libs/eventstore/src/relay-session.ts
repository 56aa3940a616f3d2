import { randomUUID } from 'node:crypto'
import { openClient } from '@opsplane/postgres'
import { type LoggedEvent, loggedEventColumns } from './logged-events.js'

/**
 * The relay's one connection. The advisory lock that makes it the only relay of its service lives and dies with
 * the connection, and so does the mark it leaves there: each statement looks for the mark, so a connection that
 * was replaced unnoticed reads nothing and marks nothing.
 */
export interface RelaySession {
  /** Whether this is the service's relay now. */
  acquire(): Promise<boolean>
  /** Marks what has been published and reads the oldest unpublished events; undefined once the lock is lost. */
  next(published: LoggedEvent[], limit: number): Promise<LoggedEvent[] | undefined>
  /** Takes events out of the line that NATS refuses for their size, keeping them as dead letters. */
  giveUp(events: LoggedEvent[], reason: string): Promise<void>
  close(): Promise<void>
}

export function openRelaySession(databaseUrl: string, schema: string): RelaySession {
  const sql = openClient(databaseUrl, {
    schema,
    max: 1,
    applicationName: `opsplane-${schema}-relay`,
    // A relay whose machine vanished must not keep the lock for hours.
    settings: { tcp_keepalives_idle: '10', tcp_keepalives_interval: '5', tcp_keepalives_count: '3' },
  })
  const token = randomUUID()
  const holdsLock = `current_setting('opsplane.relay', true) is not distinct from '${token}'`
  const markStatement = `delete from outbox where position = any($2::text[]::bigint[]) and ${holdsLock}`
  const run = <Row extends object>(text: string, parameters: (string | number | string[])[]) =>
    sql.unsafe<Row[]>(text, parameters, { prepare: true })

  return {
    async acquire() {
      const [row] = await run<{ token: string | null }>(
        `select case when pg_try_advisory_lock(hashtextextended($1, 0))
           then set_config('opsplane.relay', $2, false) end as token`,
        [`opsplane.relay/${schema}`, token],
      )
      return row?.token === token
    },
    async next(published, limit) {
      // What is being marked is still to be seen as unpublished in the same statement.
      const marked = published.length > 0
      const rows = await run<LoggedEvent & { holds: boolean; position: string | null }>(
        `${marked ? `with marked as (${markStatement})` : ''}
         select ${holdsLock} as holds, e.* from (select 1) as always left join lateral (
           select ${loggedEventColumns} from outbox as o join events as e on e.id = o.event_id
           ${marked ? 'where o.position <> all($2::text[]::bigint[])' : ''}
           order by o.position limit $1) as e on true
         order by e.position`,
        marked ? [limit, published.map((event) => event.position)] : [limit],
      )
      if (rows[0]?.holds !== true) return undefined
      return rows.filter((row) => row.position !== null)
    },
    async giveUp(events, reason) {
      await run(
        `with given_up as (delete from outbox
           where position = any($1::text[]::bigint[]) and ${holdsLock} returning event_id)
         insert into dead_letters (consumer, message_id, subject, stream_sequence, payload, error, deliveries)
         select 'relay', e.id, e.type, e.position, e.data::text, $2, 1 from given_up g join events e on e.id = g.event_id
         on conflict do nothing`,
        [events.map((event) => event.position), reason],
      )
    },
    close: () => sql.end({ timeout: 5 }),
  }
}
