import { isoText, openClient, type StatementRunner } from '@opsplane/postgres'

/** The service whose dead letters are read. */
interface DeadLetterTarget {
  databaseUrl: string
  schema: string
}

interface DeadLetterFilter {
  /** Restricts to these ids; all if absent. */
  ids?: readonly number[]
  consumer?: string | undefined
  /** Restricts to higher ids. */
  after?: number
}

/** A message that a consumer has given up. */
export interface DeadLetterSummary {
  id: number
  consumer: string
  /** The event's id if the message carries one. */
  messageId: string
  subject: string
  error: string
  /** Kind of failure; `null` for dead letters that were recorded before causes were. */
  cause: string | null
  deliveries: number
  createdAt: string
  /** When its redrive was requested, until the redrive has happened. */
  redrivenAt: string | null
}

export interface DeadLetterDetails extends DeadLetterSummary {
  source: string | null
  sourcePosition: number | null
  streamSequence: number
  payload: string
}

const summary = `id::float8 as id, consumer, message_id as "messageId", subject, error, cause, deliveries,
  ${isoText('created_at')} as "createdAt", ${isoText('redriven_at')} as "redrivenAt"`
const chosen = `($1::text is null or consumer = $1) and ($2::text[] is null or id = any($2::text[]::bigint[]))
  and id > $3::text::bigint`

/** Number of dead letters of a consumer, by kind of failure. */
interface DeadLetterCount {
  consumer: string
  cause: string | null
  count: number
}

/** Dead letters of the relay have no subject; they belong to the workspace of their event. */
const ofWorkspace = `exists (select from unnest($1::text[]) prefix where starts_with(subject, prefix))
  or consumer = 'relay' and exists (select from events where id = message_id and workspace_id = $2)`
const maxCounted = 10_000

/** The dead letters in the current schema of the connection. */
export const deadLettersIn = (run: StatementRunner) => ({
  /** The oldest ones. */
  list: async (filter: DeadLetterFilter & { limit: number }): Promise<DeadLetterSummary[]> => [
    ...(await run.unsafe<DeadLetterSummary[]>(
      `select ${summary} from dead_letters where ${chosen} order by id limit ${filter.limit}`,
      parameters(filter),
    )),
  ],

  /** Counts one workspace's dead letters, whose subjects start with `prefixes`; at most `maxCounted` are counted. */
  countOf: async (workspaceId: string, prefixes: readonly string[]): Promise<DeadLetterCount[]> => [
    ...(await run.unsafe<DeadLetterCount[]>(
      `select consumer, cause, count(*)::int as count
       from (select consumer, cause from dead_letters where ${ofWorkspace} limit ${maxCounted}) kept
       group by consumer, cause order by consumer, cause`,
      [[...prefixes], workspaceId],
    )),
  ],

  /** Marks them for their consumers, which find them when woken or started; returns the marked ones. */
  markForRedrive: async (filter: DeadLetterFilter): Promise<DeadLetterSummary[]> => [
    ...(await run.unsafe<DeadLetterSummary[]>(
      // The relay has no handler: an event that is too large for the server remains too large.
      `update dead_letters set redriven_at = now() where ${chosen} and consumer <> 'relay' returning ${summary}`,
      parameters(filter),
    )),
  ],

  /** Deletes them; returns their number. */
  async drop(filter: DeadLetterFilter): Promise<number> {
    const { count } = await run.unsafe(`delete from dead_letters where ${chosen}`, parameters(filter))
    return count
  },
})

/** The oldest dead letters of a service. */
export const listDeadLetters = (target: DeadLetterTarget, filter: DeadLetterFilter & { limit: number }) =>
  within(target, (sql) => deadLettersIn(sql).list(filter))

/** `undefined` if there is none with this id. */
export function showDeadLetter(target: DeadLetterTarget, id: number): Promise<DeadLetterDetails | undefined> {
  return within(target, async (sql) => {
    const [row] = await sql.unsafe<DeadLetterDetails[]>(
      `select ${summary}, source, source_position::float8 as "sourcePosition",
         stream_sequence::float8 as "streamSequence", payload
       from dead_letters where ${chosen}`,
      parameters({ ids: [id] }),
    )
    return row && { ...row }
  })
}

/** See `markForRedrive` of `deadLettersIn`. */
export const markForRedrive = (target: DeadLetterTarget, filter: DeadLetterFilter) =>
  within(target, (sql) => deadLettersIn(sql).markForRedrive(filter))

/** See `drop` of `deadLettersIn`. */
export const dropDeadLetters = (target: DeadLetterTarget, filter: DeadLetterFilter): Promise<number> =>
  within(target, (sql) => deadLettersIn(sql).drop(filter))

const parameters = ({ consumer, ids, after }: DeadLetterFilter) => [
  consumer ?? null,
  ids ? ids.map(String) : null,
  String(after ?? 0),
]

type Sql = ReturnType<typeof openClient>

async function within<T>(
  { databaseUrl, schema }: DeadLetterTarget,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const sql = openClient(databaseUrl, { schema, max: 1, applicationName: `opsplane-${schema}-dead-letters` })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
