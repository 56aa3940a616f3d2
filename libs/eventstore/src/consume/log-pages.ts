import {
  ApiError,
  backendNames,
  Moment,
  mayPublish,
  PlatformEvent,
  parseExact,
  StoredEvent,
} from '@opsplane/contracts'
import { defineRoute, type Route, type ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import { durablePosition } from '../log-end.js'
import { formatEnvelope, type LoggedEvent, loggedEventColumns } from '../logged-events.js'

/** Maximum number of events of a page. The event that crosses the byte limit is the last one of its page. */
const maxEvents = 500
const maxBytes = 4 * 1_024 * 1_024

const LogPageQuery = z.object({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .meta({ description: 'Position in the log after which the page begins; 0 starts with the first event.' }),
  types: z
    .string()
    .default('*')
    .meta({ description: 'Event types and `prefix.*`, separated by commas; `*` for all.' }),
  since: Moment.optional().meta({ description: 'Only events created at or after this instant.' }),
  before: Moment.optional().meta({ description: 'Only events created before this instant.' }),
})
type LogPageQuery = z.output<typeof LogPageQuery>

export const LogPage = z.object({
  events: z.array(z.object({ position: z.int(), event: PlatformEvent })),
  /** Where the next page begins; `null` if this is the last page. */
  next: z.int().nullable(),
})
export type LogPage = z.output<typeof LogPage>

/** The log of one service, its own or another's. */
export interface LogSource {
  /** The service's schema, which identifies it in message headers. */
  source: string
  /**
   * Events after a position, in order. Rejects with ApiError `service_unavailable` while the service is
   * unavailable.
   */
  page(query: LogPageQuery): Promise<LogPage>
  /**
   * A position such that all events committed by now are at or below it, and all events committed later are above
   * it.
   */
  end(): Promise<number>
}

const LogEnd = z.object({ position: z.int().min(0) })

export const ownLog = (source: string, database: Database): LogSource => ({
  source,
  page: (query) => readLogPage(database, query),
  end: () => durablePosition(database.sql),
})

/** The log of another service. Only event types that the service may publish are accepted from it. */
export const remoteLog = (source: string, client: Pick<ServiceClient, 'get'>): LogSource => ({
  source,
  async page({ after, types, since, before }) {
    const query = new URLSearchParams({
      ...{ after: String(after), types },
      ...(since !== undefined && { since }),
      ...(before !== undefined && { before }),
    })
    const { events, next } = await client.get(`/internal/events?${query}`, LogPage)
    return { events: events.filter(({ event }) => mayPublish(source, event.type)), next }
  },
  end: async () => (await client.get('/internal/events/end', LogEnd)).position,
})

/** Routes that every service with a log offers to consumers that have missed events. */
export function internalEventRoutes(database: Database): Route[] {
  return [
    defineRoute({
      operationId: 'readLog',
      method: 'get',
      path: '/internal/events',
      summary: 'Read the log of this service in order',
      tag: 'Internal',
      scope: 'service',
      callers: backendNames,
      query: LogPageQuery,
      response: LogPage,
      handler: ({ query }) => readLogPage(database, query),
    }),

    defineRoute({
      operationId: 'readLogEnd',
      method: 'get',
      path: '/internal/events/end',
      summary: 'Get the end position of the log of this service',
      tag: 'Internal',
      scope: 'service',
      callers: backendNames,
      response: LogEnd,
      handler: async () => ({ position: await durablePosition(database.sql) }),
    }),
  ]
}

async function readLogPage(
  { sql }: Database,
  { after, types, since, before }: LogPageQuery,
): Promise<LogPage> {
  const patterns = types.split(',')
  const likes = patterns.includes('*') ? null : patterns.map(likeOf)
  const rows = await sql.unsafe<(LoggedEvent & { found: number })[]>(
    pageStatement,
    [String(after), likes, since ?? null, before ?? null],
    { prepare: true },
  )
  await requirePages(sql, after, since)
  const events = rows.map((row) => ({
    position: Number(row.position),
    event: StoredEvent.parse(parseExact(formatEnvelope(row))),
  }))
  const last = events.at(-1)
  const isLast = !last || (events.length === rows[0]?.found && events.length < maxEvents)
  return { events, next: isLast ? null : last.position }
}

/** Fails if a page would be incomplete, because a later month of the log is detached. */
async function requirePages(sql: Database['sql'], after: number, since: string | undefined): Promise<void> {
  const [row] = await sql.unsafe<{ months: string | null }[]>(
    `select string_agg(to_char(month, 'YYYY-MM'), ', ' order by month) as months from detached_months
     where last_position > $1::text::bigint and ($2::text is null or month + interval '1 month' > $2::text::timestamptz)`,
    [String(after), since ?? null],
    { prepare: true },
  )
  if (!row?.months) return
  throw new ApiError(
    'service_unavailable',
    `The months ${row.months} are detached: an operator has to attach them first.`,
  )
}

/** Sums up the sizes without fetching the data. */
const pageStatement = `
  with found as materialized (
    select position, id, sum(octet_length(data::text)) over (order by position) as bytes,
      row_number() over (order by position) as nth
    from (
      select position, id, data from events
      where position > $1::text::bigint and ($2::text[] is null or type like any ($2::text[]))
        and ($3::text is null or created_at >= $3::text::timestamptz)
        and ($4::text is null or created_at < $4::text::timestamptz)
      order by position limit ${maxEvents}) e)
  select (select count(*)::int from found) as found, ${loggedEventColumns}
  from found f join events e on e.id = f.id where f.bytes <= ${maxBytes} or f.nth = 1
  order by f.position`

/** In event types only `_` has a meaning in LIKE. */
const likeOf = (pattern: string) => pattern.replaceAll('_', '\\_').replace(/\*$/, '%')
