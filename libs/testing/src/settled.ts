import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { durableConsumers, natsNames, topicConsumers } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl } from './test-env.js'
import type { TestService } from './test-service.js'
import { waitFor } from './wait-for.js'

/** A service with a log: the registry has its durable consumers by name, and `sql` reads its schema. */
type LoggingService = Pick<TestService, 'name' | 'natsPrefix' | 'sql' | 'now'>

export interface SettledOptions {
  /**
   * For services used concurrently by others: only waits for the events of this
   * workspace, and for earlier events of all.
   */
  workspaceId?: string
}

/**
 * Resolves when every event in the service's log, and every event written while handling them, is
 * published and handled by all consumers of the service, and none of its work is due. After that,
 * nothing more happens except work that is due later.
 */
export async function waitUntilSettled(
  service: LoggingService,
  { workspaceId }: SettledOptions = {},
): Promise<void> {
  const { name, natsPrefix } = service
  const { eventsStream, topicsStream } = natsNames(natsPrefix)
  const durables = [
    ...durablesIn(durableConsumers, name).map((durable) => ({ stream: eventsStream, durable })),
    ...durablesIn(topicConsumers, name).map((durable) => ({ stream: topicsStream, durable })),
  ]
  const log = createLogger({ service: 'settled', level: 'silent' })
  const link = connectNats({ url: testNatsUrl(), name: 'settled', log })
  try {
    const manager = await jetstreamManager(await link.ready(), { checkAPI: false })
    const streamEnd = async (stream: string) => (await manager.streams.info(stream)).state.last_seq
    let published: { end: number; sequences: Record<string, number> } | undefined
    await waitFor(
      async () => {
        const before = await publishedEnd(service, workspaceId)
        // Others may publish all the time, so the ends of the streams are read once, after these events were in them.
        if (published?.end !== before) {
          const [events, topics] = await Promise.all([streamEnd(eventsStream), streamEnd(topicsStream)])
          published = { end: before, sequences: { [eventsStream]: events, [topicsStream]: topics } }
        }
        const { sequences } = published
        await Promise.all(
          durables.map(({ stream, durable }) =>
            requireHandled(manager, { stream, durable, end: sequences[stream] ?? 0 }),
          ),
        )
        await requireNothingDue(service, workspaceId)
        // Effects of acknowledged messages and completed work are in the log.
        return before === (await publishedEnd(service, workspaceId))
      },
      { message: `${name} to have handled every event` },
    )
  } finally {
    await link.close()
  }
}

const durablesIn = (
  registry: Readonly<Record<string, readonly string[] | undefined>>,
  service: string,
): readonly string[] => registry[service] ?? []

/** The position of the last event; throws while the outbox is not empty. */
async function publishedEnd({ name, sql }: LoggingService, workspaceId: string | undefined): Promise<number> {
  const ofWorkspace = workspaceId === undefined ? sql`true` : sql`workspace_id = ${workspaceId}`
  const [row] = await sql<{ last: number; unpublished: number }[]>`
    select (select coalesce(max(position), 0)::float8 from events where ${ofWorkspace}) as last,
      (select count(*)::int from outbox where ${ofWorkspace}) as unpublished`
  const { last = 0, unpublished = 0 } = row ?? {}
  if (unpublished > 0) throw new Error(`${unpublished} events in the outbox of ${name}`)
  return last
}

/** Throws while the consumer has not handled everything up to `end` of its stream. */
async function requireHandled(
  { consumers }: JetStreamManager,
  { stream, durable, end }: { stream: string; durable: string; end: number },
): Promise<void> {
  const {
    num_pending: pending,
    num_ack_pending: unacknowledged,
    ack_floor,
  } = await consumers.info(stream, durable)
  if ((pending === 0 && unacknowledged === 0) || ack_floor.stream_seq >= end) return
  throw new Error(`${durable} has ${pending} events pending and ${unacknowledged} not acknowledged`)
}

/** A table of due work, derived from its index: `due` and `waiting` are expressions over a row. */
interface DueTable {
  table: string
  due: string
  waiting: string
  columns: string[]
}

/** Throws while any row is due or leased. */
async function requireNothingDue(
  { name, sql, now }: LoggingService,
  workspaceId: string | undefined,
): Promise<void> {
  const tables = await sql<DueTable[]>`
    select c.relname as table, pg_get_expr(indexprs, indrelid) as due, pg_get_expr(indpred, indrelid) as waiting,
      array(select attname::text from pg_attribute where attrelid = indrelid and attnum > 0) as columns
    from pg_index join pg_class i on i.oid = indexrelid join pg_class c on c.oid = indrelid
    where c.relnamespace = current_schema()::regnamespace and i.relname like '%\\_due\\_idx'
      and indexprs is not null and indpred is not null`
  for (const { table, due, waiting, columns } of tables) {
    const inHand = columns.includes('lease_owner') ? 'lease_owner is not null' : 'false'
    const hasWorkspace = workspaceId !== undefined && columns.includes('workspace_id')
    const [row] = await sql.unsafe<{ count: number }[]>(
      `select count(*)::int from ${table} where (${waiting}) and (${inHand} or ${due} <= coalesce($1::timestamptz, now()))
         and ($2::text is null or ${hasWorkspace ? 'workspace_id' : '$2'} = $2)`,
      [now?.() ?? null, workspaceId ?? null],
    )
    if (row && row.count > 0)
      throw new Error(`${row.count} rows of ${table} of ${name} are due or in progress`)
  }
}
