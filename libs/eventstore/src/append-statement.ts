import type {
  Commit,
  CommittedEvent,
  EventRow,
  HeadMove,
  IdempotencyRow,
  Reliance,
  RowWrite,
} from './commit.js'

/** The tables a commit writes to and relies on: all that the statement's text depends on, so few texts are prepared. */
export interface CommitShape {
  /** Names the shape. */
  key: string
  upserts: string[]
  deletes: string[]
  relied: string[]
}

export function shapeOf(commit: Commit): CommitShape {
  const upserts = new Set<string>()
  const deletes = new Set<string>()
  for (const row of commit.rows) (row.state === null ? deletes : upserts).add(row.table)
  const relied = new Set(commit.relied?.map(({ table }) => table))
  const shape = { upserts: [...upserts].sort(), deletes: [...deletes].sort(), relied: [...relied].sort() }
  return { key: `+${shape.upserts.join()}-${shape.deletes.join()}?${shape.relied.join()}`, ...shape }
}

type Column<Row> = { name: string; type: string; value: (row: Row) => string | number | null }

const text = <Row>(name: string, value: Column<Row>['value'], type = 'text') => ({ name, type, value })

const eventColumns: Column<EventRow>[] = [
  text('id', (row) => row.id),
  text('stream_type', (row) => row.streamType),
  text('stream_id', (row) => row.streamId),
  text('version', (row) => row.version, 'int'),
  text('type', (row) => row.type),
  text('workspace_id', (row) => row.workspaceId),
  text('environment', (row) => row.environment),
  text('actor', (row) => row.actor, 'json'),
  text('resource', (row) => row.resource, 'json'),
  text('data', (row) => row.data, 'json'),
  text('sealed', (row) => row.sealed, 'json'),
  text('request_id', (row) => row.requestId),
  text('causation_id', (row) => row.causationId),
  text('source', (row) => row.source, 'json'),
  text('created_at', (row) => row.createdAt, 'timestamptz'),
]

const headColumns: Column<HeadMove>[] = [
  text('stream_id', (row) => row.streamId),
  text('stream_type', (row) => row.streamType),
  text('workspace_id', (row) => row.workspaceId),
  text('environment', (row) => row.environment),
  text('expected', (row) => row.expected),
  text('version', (row) => row.version),
  text('ended', (row) => String(row.ended)),
]

const idempotencyColumns: Column<IdempotencyRow>[] = [
  text('key', (row) => row.key),
  text('fingerprint', (row) => row.fingerprint),
  text('status', (row) => row.status, 'int'),
  text('body', (row) => row.body, 'json'),
  text('headers', (row) => row.headers, 'json'),
]

const upsertColumns: Column<RowWrite>[] = [
  text('id', (row) => row.id),
  text('workspace_id', (row) => row.workspaceId),
  text('environment', (row) => row.environment),
  text('version', (row) => row.version, 'int'),
  text('state', (row) => row.state, 'json'),
]

const deleteColumns = upsertColumns.slice(0, 3)

const relianceColumns: Column<Reliance>[] = [
  text('id', (row) => row.id),
  text('workspace_id', (row) => row.workspaceId),
  text('environment', (row) => row.environment),
  text('fields', (row) => row.fields),
]

/**
 * The append: one data-modifying statement that writes events, read-model rows and idempotency rows of any
 * number of commits, so that one round trip and one WAL flush make all of them durable, or none.
 * Rows arrive as one array per column. Everything is sent as text and cast here, which keeps the statement
 * independent of the client's serializers.
 */
export function appendStatement(shape: CommitShape): string {
  const next = parameterCounter()
  const parts = [
    ...shape.relied.flatMap((table, index) => relianceParts(table, index, next)),
    `wanted as (select * from ${rowsOf(headColumns, next)})`,
    `created as (
      insert into stream_heads (stream_id, stream_type, workspace_id, environment, version, ended)
      select stream_id, stream_type, workspace_id, environment, version::int, ended::boolean from wanted
      where expected = '0' returning 1)`,
    `moved as (
      update stream_heads as h set version = t.version::int, ended = t.ended::boolean from wanted as t
      where h.stream_id = t.stream_id and h.version = t.expected::int and t.expected <> '0' and h.stream_type = t.stream_type
        and h.workspace_id = t.workspace_id and h.environment = t.environment returning 1)`,
    // Before any position is drawn.
    `guarded as materialized (
      select 1 / (${shape.relied.map(held).join(' and ') || 'true'})::int as relied,
        sqrt((select count(*) from created) + (select count(*) from moved) - (select count(*) from wanted)) as raced)`,
    `appended as (${insertInto('events', eventColumns, next)} where (select raced = 0 and relied = 1 from guarded)
      returning id, position, workspace_id)`,
    'waiting as (insert into outbox (position, workspace_id, event_id) select position, workspace_id, id from appended)',
    `answered as (${insertInto('idempotency_keys', idempotencyColumns, next)})`,
    ...rowWriters(shape, next),
  ]
  return together(parts, 'id, position from appended')
}

/**
 * What is relied on is locked against being written until the commit, in one order for all. A row that somebody is just
 * writing is waited for and looked at as they leave it: it is missing from what is held where it is not as relied on.
 */
const relianceParts = (table: string, index: number, next: () => number): string[] => [
  `wanted_${index} as (select * from ${rowsOf(relianceColumns, next)})`,
  `held_${index} as (
    select r.id from wanted_${index} t join ${quoted(table)} as r
      on r.id = t.id and r.workspace_id = t.workspace_id and r.environment = t.environment
    where r.state::jsonb @> t.fields::jsonb order by r.id for share of r)`,
]

/** Asked for by the statement itself, it is read, and so locked, before anything is written. */
const held = (_: string, index: number) =>
  `(select count(*) from wanted_${index}) = (select count(*) from held_${index})`

/** The parameters of `appendStatement`, in the order it numbers them. */
export function appendParameters(shape: CommitShape, commits: Commit[]): string[][] {
  const relied = commits.flatMap((commit) => commit.relied ?? [])
  const answers = commits.flatMap((commit) => (commit.idempotency ? [commit.idempotency] : []))
  return [
    ...shape.relied.flatMap((table) =>
      arrays(
        relianceColumns,
        relied.filter((row) => row.table === table),
      ),
    ),
    ...arrays(
      headColumns,
      commits.flatMap((commit) => commit.heads),
    ),
    ...arrays(
      eventColumns,
      commits.flatMap((commit) => commit.events),
    ),
    ...arrays(idempotencyColumns, answers),
    ...rowParameters(
      shape,
      commits.flatMap((commit) => commit.rows),
    ),
  ]
}

/** What the append returns of each event. */
export interface Placed {
  id: string
  position: string
}

export function committed(events: readonly EventRow[], placed: readonly Placed[]): CommittedEvent[] {
  const positions = new Map(placed.map(({ id, position }) => [id, position]))
  return events.map((event) => ({ ...event, position: positions.get(event.id) ?? '0' }))
}

/** Writes read-model rows alone, for refolding; its parameters are those of `rowParameters`. */
export function rowStatement(shape: CommitShape): string {
  return together(rowWriters(shape, parameterCounter()), '1')
}

export function rowParameters(shape: CommitShape, rows: RowWrite[]): string[][] {
  const written = (table: string) => rows.filter((row) => row.table === table && row.state !== null)
  const deleted = (table: string) => rows.filter((row) => row.table === table && row.state === null)
  return [
    ...shape.upserts.flatMap((table) => arrays(upsertColumns, written(table))),
    ...shape.deletes.flatMap((table) => arrays(deleteColumns, deleted(table))),
  ]
}

function rowWriters({ upserts, deletes }: CommitShape, next: () => number): string[] {
  return [
    ...upserts.map(
      // The guard: a row never goes back to an older version, nor over to another tenant.
      (table, index) => `upserted_${index} as (${insertInto(table, upsertColumns, next)}
        on conflict (id) do update set version = excluded.version, state = excluded.state
        where r.version < excluded.version
          and r.workspace_id = excluded.workspace_id and r.environment = excluded.environment)`,
    ),
    ...deletes.map(
      (table, index) => `deleted_${index} as (
        delete from ${quoted(table)} as r using ${rowsOf(deleteColumns, next)}
        where r.id = t.id and r.workspace_id = t.workspace_id and r.environment = t.environment)`,
    ),
  ]
}

function insertInto<Row>(table: string, columns: Column<Row>[], next: () => number): string {
  const names = columns.map((column) => column.name).join(', ')
  const values = columns.map(({ name, type }) => (type === 'text' ? `t.${name}` : `t.${name}::${type}`))
  return `insert into ${quoted(table)} as r (${names}) select ${values.join(', ')} from ${rowsOf(columns, next)}`
}

function rowsOf<Row>(columns: Column<Row>[], next: () => number): string {
  const parameters = columns.map(() => `$${next()}::text[]`).join(', ')
  return `unnest(${parameters}) as t (${columns.map((column) => column.name).join(', ')})`
}

function parameterCounter(): () => number {
  let last = 0
  return () => ++last
}

function together(parts: string[], result: string): string {
  return `with ${parts.join(',\n')} select ${result}`
}

function arrays<Row>(columns: Column<Row>[], rows: Row[]): string[][] {
  // Null stays null inside an array parameter; the element type only says what the client may see.
  return columns.map((column) => rows.map((row) => column.value(row) as string))
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
