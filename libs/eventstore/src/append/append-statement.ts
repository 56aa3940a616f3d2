import { quoteIdentifier } from '@opsplane/postgres'
import {
  type ArrayParameters,
  arrays,
  type Column,
  insertInto,
  lateralOne,
  type Numbered,
  parameterCounter,
  text,
  unnestRows,
} from './columns.js'
import type { Commit, EventRow, HeadMove, IdempotencyRow, ReadDependency } from './commit.js'
import { eventFields } from './event-fields.js'
import { computeRowShape, deleteColumns, type RowShape, rowParameters, upsertColumns } from './row-writes.js'
import type { UniqueIndex } from './unique-indexes.js'
import { dependencyVerdicts, type Verdicts, writeVerdicts } from './verdicts.js'

/**
 * The tables a commit writes to and depends on. The statement text depends on nothing else, so few texts are
 * prepared.
 */
export interface CommitShape extends RowShape {
  dependencies: string[]
}

export function commitShape(commit: Commit): CommitShape {
  const rows = computeRowShape(commit.rows)
  const dependencies = [...new Set(commit.dependencies?.map(({ table }) => table))].sort()
  return { ...rows, key: `${rows.key}?${dependencies.join()}`, dependencies }
}

const eventColumns: Column<EventRow>[] = [
  ...eventFields,
  text('version', (row) => row.version, 'int'),
  text('sealed', (row) => row.sealed, 'json'),
  text('source', (row) => row.source, 'json'),
  text('trace', (row) => row.trace),
]

const headColumns: Column<HeadMove>[] = [
  text('stream_id', (row) => row.streamId),
  text('stream_type', (row) => row.streamType),
  text('workspace_id', (row) => row.workspaceId),
  text('environment', (row) => row.environment),
  text('expected', (row) => row.expected, 'int'),
  text('version', (row) => row.version, 'int'),
  text('ended', (row) => String(row.ended), 'boolean'),
]

const idempotencyColumns: Column<IdempotencyRow>[] = [
  text('key', (row) => row.key),
  text('fingerprint', (row) => row.fingerprint),
  text('status', (row) => row.status, 'int'),
  text('body', (row) => row.body, 'json'),
  text('headers', (row) => row.headers, 'json'),
]

const dependencyColumns: Column<ReadDependency>[] = [
  text('id', (row) => row.id),
  text('workspace_id', (row) => row.workspaceId),
  text('environment', (row) => row.environment),
  text('fields', (row) => row.fields),
]

export interface AppendOptions {
  uniques: ReadonlyMap<string, readonly UniqueIndex[]>
  /** Whether the statement waits for a locked row; otherwise the verdict on the commit with that row is `blocked`. */
  waits: boolean
  /** Lock timeout in milliseconds, after which the statement fails; the transaction's own setting if absent. */
  lockTimeoutMs?: number
}

/**
 * A row returned by the append: an event with its position, or the number and verdict of a commit that was not
 * written.
 */
export type AppendRow =
  | { n: null; verdict: null; id: string; position: string }
  | { n: number; verdict: string; id: null; position: null }

/**
 * The append: one data-modifying statement that writes the events, heads, outbox, read-model and idempotency rows
 * of any number of commits, so that one round trip and one WAL flush make all of them durable. It first locks the
 * rows the commits write and depend on, and determines which commits cannot be written: it returns a verdict for
 * each of those and writes nothing of them. A conflict it cannot see, because the rival has not committed yet,
 * fails the whole statement.
 *
 * Rows are passed as one array per column. Everything is sent as text and cast here, which keeps the statement
 * independent of the client's serializers.
 */
export function appendStatement(
  shape: CommitShape,
  { uniques, waits, lockTimeoutMs }: AppendOptions,
): string {
  const next = parameterCounter()
  const skipping = waits ? '' : 'skip locked'
  const limited = lockTimeoutMs === undefined ? '' : ', time_limit'
  const found: Verdicts[] = [
    headVerdicts(next, skipping, limited),
    ...shape.upserts.map((table, index) =>
      writeVerdicts({
        table,
        name: `upsert_${index}`,
        rows: numbered(upsertColumns, next),
        skipping,
        uniques: uniques.get(table) ?? [],
      }),
    ),
    ...shape.deletes.map((table, index) =>
      writeVerdicts({
        table,
        name: `delete_${index}`,
        rows: numbered(deleteColumns, next),
        skipping,
        uniques: [],
      }),
    ),
    ...shape.dependencies.map((table, index) =>
      dependencyVerdicts({
        table,
        name: `dependency_${index}`,
        rows: numbered(dependencyColumns, next),
        skipping,
      }),
    ),
    {
      parts: [`answer as materialized (${numbered(idempotencyColumns, next, limited)})`],
      losers: [
        `select n, 0, 'key' from answer t, ${lateralOne('select from idempotency_keys k where k.key = t.key')} k`,
      ],
      later: [],
    },
  ]
  const later = found.flatMap((each) => each.later)
  const accepted = 'where t.n not in (select n from verdict)'
  const parts = [
    ...(limited
      ? [`time_limit as materialized (select set_config('lock_timeout', '${lockTimeoutMs}', true))`]
      : []),
    ...found.flatMap((each) => each.parts),
    `loser (n, rank, verdict) as (${found.flatMap((each) => each.losers).join('\nunion all ')})`,
    'rejected as materialized (select distinct on (n) n, verdict from loser order by n, rank)',
    `verdict as materialized (${['select n, verdict from rejected', ...later].join('\nunion ')})`,
    `created as (
      insert into stream_heads (stream_id, stream_type, workspace_id, environment, version, ended)
      select stream_id, stream_type, workspace_id, environment, version, ended from head t
      ${accepted} and expected = 0)`,
    `moved as (
      update stream_heads as h set version = t.version, ended = t.ended from head t
      ${accepted} and t.expected > 0 and h.stream_id = t.stream_id)`,
    `appended as (${insertInto('events', eventColumns, unnestRows(eventColumns, next))}
      where t.n::int not in (select n from verdict) returning id, position, workspace_id)`,
    'waiting as (insert into outbox (position, workspace_id, event_id) select position, workspace_id, id from appended)',
    `answered as (${insertInto('idempotency_keys', idempotencyColumns, 'answer t')} ${accepted})`,
    ...rowWriters(shape, accepted),
  ]
  return `with ${parts.join(',\n')}
    select null::int as n, null as verdict, id, position from appended
    union all select n, verdict, null, null from verdict`
}

/** The parameters of `appendStatement`, in the order of its placeholders. Commits are numbered from 0. */
export function appendParameters(shape: CommitShape, commits: readonly Commit[]): ArrayParameters {
  const all = <Row>(rowsIn: (commit: Commit) => readonly Row[]): Numbered<Row>[] =>
    commits.flatMap((commit, n) => rowsIn(commit).map((row) => ({ n, row })))
  const dependencies = all((commit) => commit.dependencies ?? [])
  return [
    ...arrays(
      headColumns,
      all(({ heads }) => heads),
    ),
    ...rowParameters(
      shape,
      all(({ rows }) => rows),
    ),
    ...shape.dependencies.flatMap((table) =>
      arrays(
        dependencyColumns,
        dependencies.filter(({ row }) => row.table === table),
      ),
    ),
    ...arrays(
      idempotencyColumns,
      all(({ idempotency }) => (idempotency ? [idempotency] : [])),
    ),
    ...arrays(
      eventColumns,
      all(({ events }) => events),
    ),
  ]
}

const numbered = <Row>(columns: readonly Column<Row>[], next: () => number, also = ''): string =>
  `select t.n::int as n, ${columns
    .map(({ name, type }) => (type === 'text' ? `t.${name}` : `t.${name}::${type} as ${name}`))
    .join(', ')} from ${unnestRows(columns, next)}${also}`

/** A race was lost if the id of a new stream already exists, or if the stream's head moved after the decision. */
function headVerdicts(next: () => number, skipping: string, limited: string): Verdicts {
  return {
    parts: [
      `head as materialized (${numbered(headColumns, next, limited)})`,
      `head_seen as materialized (
        select h.stream_id from head t, ${lateralOne('select h.stream_id from stream_heads h where h.stream_id = t.stream_id')} h)`,
      `head_locked as materialized (
        select h.* from (select stream_id from head_seen order by stream_id) t, ${lateralOne(
          `
          select h.stream_id, h.stream_type, h.workspace_id, h.environment, h.version from stream_heads h
          where h.stream_id = t.stream_id`,
          `for no key update ${skipping}`,
        )} h)`,
    ],
    losers: [
      `select n, case when expected > 0 and s.stream_id is not null and l.stream_id is null then 3 else 1 end,
         case when expected > 0 and s.stream_id is not null and l.stream_id is null then 'blocked' else 'raced' end
       from head left join head_seen s on s.stream_id = head.stream_id left join head_locked l on l.stream_id = head.stream_id
       where case when expected = 0 then s.stream_id is not null
         else (l.version, l.stream_type, l.workspace_id, l.environment)
           is distinct from (head.expected, head.stream_type, head.workspace_id, head.environment) end`,
    ],
    later: [],
  }
}

function rowWriters({ upserts, deletes }: CommitShape, accepted: string): string[] {
  return [
    ...upserts.map(
      // Guard: a row never returns to an older version and never moves to another tenant.
      (
        table,
        index,
      ) => `upserted_${index} as (${insertInto(quoteIdentifier(table), upsertColumns, `upsert_${index} t`)} ${accepted}
        on conflict (id) do update set version = excluded.version, state = excluded.state
        where r.version < excluded.version
          and r.workspace_id = excluded.workspace_id and r.environment = excluded.environment)`,
    ),
    ...deletes.map(
      (table, index) => `deleted_${index} as (
        delete from ${quoteIdentifier(table)} as r using delete_${index} t ${accepted}
        and r.id = t.id and r.workspace_id = t.workspace_id and r.environment = t.environment)`,
    ),
  ]
}
