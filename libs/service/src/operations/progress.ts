import type { EventConsumer } from '@opsplane/eventstore'
import type { NatsLink } from '@opsplane/nats'
import {
  type Database,
  type DueWorkGroup,
  dueCountsStatement,
  workspaceDueCountsStatement,
} from '@opsplane/postgres'

/** Rows are counted no further. */
const maxEvents = 100_000
const maxDue = 10_000

export type Consumers = ReadonlyMap<string, EventConsumer>
type Statements = Pick<Database, 'sql'>

/** Events that wait to be published, and the oldest of them. */
export async function readOutbox({ sql }: Statements) {
  const [row] = await sql.unsafe<{ events: number; oldest: string | null }[]>(
    `select count(*)::int as events, (select event_id from outbox order by position limit 1) as oldest
     from (select from outbox limit ${maxEvents}) waits`,
  )
  // Apart, since a statement on the partitions of the log costs more than the rest, and nearly always nothing waits.
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

/** Those of one workspace. */
export async function countUnpublished({ sql }: Statements, workspaceId: string): Promise<number> {
  const [row] = await sql<{ events: number }[]>`
    select count(*)::int as events from (
      select from outbox where workspace_id = ${workspaceId} limit ${maxEvents}) waits`
  return row?.events ?? 0
}

/** Of the relay and each consumer, 0 where there is none. */
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

/** How far each consumer is; none while NATS is away. */
export async function readConsumerPositions(link: NatsLink, consumers: Consumers) {
  if (!link.connected()) return []
  return Promise.all(
    [...consumers].map(async ([durable, consumer]) => {
      const { pending, ackPending } = await consumer.place()
      return { durable, pending, ackPending }
    }),
  )
}

/** The same, and none where NATS has not answered by then: it is silent for a while before it counts as away. */
export function readPositionsInTime(link: NatsLink, consumers: Consumers, signal: AbortSignal) {
  const late = new Promise<[]>((resolve) => {
    const end = () => resolve([])
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
  return Promise.race([late, readConsumerPositions(link, consumers)])
}

/** What is due and not done yet, of one workspace or of all, and for how many seconds the first of it. */
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
