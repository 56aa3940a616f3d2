import type { EventConsumer } from '@opsplane/eventstore'
import type { NatsLink } from '@opsplane/nats'
import {
  type Database,
  type DueWorkGroup,
  dueCountsStatement,
  workspaceDueCountsStatement,
} from '@opsplane/postgres'

/** Maximum rows counted. */
const maxEvents = 100_000
const maxDue = 10_000

export type Consumers = ReadonlyMap<string, EventConsumer>
type Statements = Pick<Database, 'sql'>

/** Number and age of the events that wait to be published. */
export async function readOutbox({ sql }: Statements) {
  const [row] = await sql.unsafe<{ events: number; oldest: string | null }[]>(
    `select count(*)::int as events, (select event_id from outbox order by position limit 1) as oldest
     from (select from outbox limit ${maxEvents}) waits`,
  )
  // A separate query: a statement on the partitions of the log costs more than the rest, and usually nothing waits.
  const [event] = row?.oldest
    ? await sql<{ age: number; at: Date }[]>`
        select greatest(extract(epoch from now() - created_at), 0)::float8 as age, created_at as at
        from events where id = ${row.oldest}`
    : []
  return {
    events: row?.events ?? 0,
    oldestSeconds: event?.age ?? 0,
    oldestAt: event ? new Date(event.at).toISOString() : null,
  }
}

/** Unpublished events of one workspace. */
export async function countUnpublished({ sql }: Statements, workspaceId: string): Promise<number> {
  const [row] = await sql<{ events: number }[]>`
    select count(*)::int as events from (
      select from outbox where workspace_id = ${workspaceId} limit ${maxEvents}) waits`
  return row?.events ?? 0
}

/** Dead letters of the relay and of each consumer, 0 if there are none. */
export async function countDeadLetters(
  { sql }: Statements,
  consumers: Consumers,
): Promise<Map<string, number>> {
  const rows = await sql.unsafe<{ consumer: string; count: number }[]>(
    `select consumer, count(*)::int as count from (select consumer from dead_letters limit ${maxDue}) kept group by consumer`,
  )
  return new Map([
    ...['relay', ...consumers.keys()].map((consumer) => [consumer, 0] as const),
    ...rows.map(({ consumer, count }) => [consumer, count] as const),
  ])
}

/** Position of each consumer; empty while NATS is unavailable. */
export async function readConsumerPositions(link: NatsLink, consumers: Consumers) {
  if (!link.connected()) return []
  return Promise.all(
    [...consumers].map(async ([durable, consumer]) => {
      const { pending, ackPending } = await consumer.place()
      return { durable, pending, ackPending }
    }),
  )
}

/**
 * Like `readConsumerPositions`, but empty if NATS does not answer before the signal aborts: NATS may be silent for a
 * while before it counts as disconnected.
 */
export function readPositionsInTime(link: NatsLink, consumers: Consumers, signal: AbortSignal) {
  const late = new Promise<[]>((resolve) => {
    const end = () => resolve([])
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
  return Promise.race([late, readConsumerPositions(link, consumers)])
}

/** Number of due rows of one workspace or of all, and how many seconds the oldest has been due. */
export async function countDue({ sql }: Statements, dueWork: DueWorkGroup, workspaceId?: string) {
  const works = dueWork.works()
  const { text, parameters } =
    workspaceId === undefined
      ? dueCountsStatement(works, maxDue)
      : workspaceDueCountsStatement(works, workspaceId, maxDue)
  const counts =
    text === '' ? [] : await sql.unsafe<{ name: string; due: number; age: number }[]>(text, parameters)
  return counts.map(({ name, due, age }) => ({ name, late: due, oldestSeconds: Math.max(age, 0) }))
}
