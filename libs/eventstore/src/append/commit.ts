/** A new row of `events`; JSON columns are already serialized. */
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
  /** The `traceparent` of the append; `null` if it is not traced. */
  trace: string | null
}

/** An event with its position in the log. */
export type CommittedEvent = EventRow & { position: string }

/**
 * The move of a stream's head: from the version the decision was based on (0 for a new stream) to the last event's
 * version.
 */
export interface HeadMove {
  streamId: string
  streamType: string
  workspaceId: string
  environment: string
  expected: number
  version: number
  /** Whether the last event deletes the aggregate. */
  ended: boolean
}

/** The new content of a read-model row; `state` is JSON text, `null` deletes the row. */
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

/**
 * A row the commit does not write but whose content the decision depended on. `fields` is JSON text that the row's
 * state must still contain.
 */
export interface ReadDependency {
  table: string
  id: string
  workspaceId: string
  environment: string
  fields: string
}

/** Rows that are written together or not at all. At most one write per row. */
export interface Commit {
  events: EventRow[]
  /** One for each stream with events in this commit. */
  heads: HeadMove[]
  rows: RowWrite[]
  /** At most one per row. */
  dependencies?: ReadDependency[] | undefined
  idempotency?: IdempotencyRow | undefined
}

/** Keys that no commit of the same statement may write, because a statement does not see its own writes. */
export const dependencyKeys = ({ dependencies = [] }: Commit): string[] =>
  dependencies.map(({ table, id }) => `${table}/${id}`)

/** Everything only one commit at a time may write: its aggregates, rows and Idempotency-Key. */
export function exclusiveKeys(commit: Commit): string[] {
  const claims = new Set<string>()
  for (const event of commit.events) claims.add(event.streamId)
  for (const row of commit.rows) claims.add(`${row.table}/${row.id}`)
  if (commit.idempotency) claims.add(`key/${commit.idempotency.key}`)
  return [...claims]
}
