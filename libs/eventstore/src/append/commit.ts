/** A new row of `events`; JSON columns are text already. */
export interface EventRow {
  id: string
  streamType: string
  streamId: string
  version: number
  type: string
  workspaceId: string
  environment: string
  actor: string
  resource: string
  data: string
  sealed: string | null
  requestId: string | null
  causationId: string | null
  source: string | null
  createdAt: string
  /** The `traceparent` of the append; null where it is not traced. */
  trace: string | null
}

/** An event with its place in the log. */
export type CommittedEvent = EventRow & { position: string }

/** How a stream's head shall move: from the version that was decided on, 0 of a new one, to the last event's. */
export interface HeadMove {
  streamId: string
  streamType: string
  workspaceId: string
  environment: string
  expected: number
  version: number
  /** Whether the last event has deleted the aggregate. */
  ended: boolean
}

/** A read-model row as it shall be; `state` is JSON text, null deletes the row. */
export interface RowWrite {
  table: string
  id: string
  workspaceId: string
  environment: string
  version: number
  state: string | null
}

/** The finished response to a request with an Idempotency-Key. */
export interface IdempotencyRow {
  key: string
  fingerprint: string
  status: number
  body: string
  headers: string | null
}

/** A row the commit does not write but was decided on; `fields` is JSON text, and must be part of its state still. */
export interface ReadDependency {
  table: string
  id: string
  workspaceId: string
  environment: string
  fields: string
}

/** What is written together or not at all. At most one write per row. */
export interface Commit {
  events: EventRow[]
  /** One for each stream of the events. */
  heads: HeadMove[]
  rows: RowWrite[]
  /** At most one per row. */
  dependencies?: ReadDependency[] | undefined
  idempotency?: IdempotencyRow | undefined
}

/** What must not be written in the same statement, as a statement sees nothing of what it writes. */
export const dependencyKeys = ({ dependencies = [] }: Commit): string[] =>
  dependencies.map(({ table, id }) => `${table}/${id}`)

/** Everything only one commit at a time can be writing: its aggregates, rows and Idempotency-Key. */
export function exclusiveKeys(commit: Commit): string[] {
  const claims = new Set<string>()
  for (const event of commit.events) claims.add(event.streamId)
  for (const row of commit.rows) claims.add(`${row.table}/${row.id}`)
  if (commit.idempotency) claims.add(`key/${commit.idempotency.key}`)
  return [...claims]
}
