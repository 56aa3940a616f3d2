import { type Instant, type PlatformEvent, stringifyExact } from '@opsplane/contracts'
import { type Database, jsonArray } from '@opsplane/postgres'
import { auditLog } from '../schema.js'
import { type ChainEnd, emptyChain, nextLink } from './chain.js'
import { eventColumns } from './event-columns.js'
import { countResources } from './resource-counts.js'

/**
 * Hand-written SQL: every event of the platform passes through here, and the statements of each batch are prepared
 * once.
 */
type Sql = Pick<Database['sql'], 'unsafe'>
const prepared = { prepare: true }

interface Link extends ChainEnd {
  event: PlatformEvent
}

/**
 * Appends events to their workspaces' chains, each once even if redelivered. A transaction locks the heads of the
 * chains it extends until it commits. Heads are locked in a fixed order, so that two replicas cannot deadlock.
 */
export async function appendToChains(
  sql: Database['sql'],
  events: PlatformEvent[],
  now: Instant,
): Promise<void> {
  await sql.begin(async (tx) => {
    // Sent together but executed in order: once the heads are locked, events added by another replica are committed and
    // visible.
    const [, heads, known] = await Promise.all([
      beginChains(tx, listWorkspaces(events), now),
      lockHeads(tx, listWorkspaces(events)),
      knownIds(tx, events),
    ])
    const links: Link[] = []
    for (const event of events) {
      if (known.has(event.id)) continue
      known.add(event.id)
      const end = nextLink(heads.get(event.workspaceId) ?? emptyChain, event)
      heads.set(event.workspaceId, end)
      links.push({ event, ...end })
    }
    if (links.length === 0) return
    const added = links.map(({ event }) => event)
    await Promise.all([write(tx, links, now), countResources(tx, added)])
  })
}

const listWorkspaces = (events: PlatformEvent[]) =>
  [...new Set(events.map(({ workspaceId }) => workspaceId))].sort()

/** Inserts the head of a new chain first, because a row that does not exist cannot be locked. */
async function beginChains(sql: Sql, workspaces: string[], now: Instant): Promise<void> {
  await sql.unsafe(
    `insert into audit_heads (workspace_id, seq, hash, at)
     select id, $2::text::bigint, $3, $4 from unnest($1::text[]) with ordinality as t (id, place) order by place
     on conflict do nothing`,
    [workspaces, String(emptyChain.seq), emptyChain.hash, now],
    prepared,
  )
}

async function lockHeads(sql: Sql, workspaces: string[]): Promise<Map<string, ChainEnd>> {
  const heads = await sql.unsafe<{ id: string; seq: string; hash: string }[]>(
    `select workspace_id as id, seq, hash from audit_heads where workspace_id = any($1::text[])
     order by workspace_id for update`,
    [workspaces],
    prepared,
  )
  return new Map(heads.map(({ id, seq, hash }) => [id, { seq: Number(seq), hash }]))
}

async function knownIds(sql: Sql, events: PlatformEvent[]): Promise<Set<string>> {
  const ids = events.map(({ id }) => id)
  // Looks ids up one by one through the index: a plan made while the log is short must also be good for a long one.
  const rows = await sql.unsafe<{ id: string }[]>(
    `select t.id from unnest($1::text[]) as t (id)
      cross join lateral (select from audit_log a where a.id = t.id limit 1) known`,
    [ids],
    prepared,
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * A new chain, and a chain that has grown by this many events, is signed immediately; a chain that has grown less,
 * after an hour.
 */
const checkpointEvents = 1_000
/** Uses the earlier clock, so that a service clock that is ahead does not delay a checkpoint. */
const here = `least($1::text::timestamptz, now())`
const checkpointAt = `case
  when h.checkpoint_seq = 0 or t.seq::bigint >= h.checkpoint_seq + ${checkpointEvents}
    then least(h.checkpoint_at, ${here})
  else coalesce(h.checkpoint_at, ${here} + interval '1 hour') end`

/**
 * The columns are inserted explicitly. If the database computed them, it would have to parse each event, which is a
 * third of the cost of an insert.
 */
const columns = Object.entries(eventColumns).map(([name, of]) => ({
  name: auditLog[name as keyof typeof eventColumns].name,
  of,
}))
const columnNames = columns.map(({ name }) => name).join(', ')
const columnValues = columns.map(({ name }) => (name === 'version' ? 'version::int' : name)).join(', ')
const columnArrays = columns.map((_, at) => `$${at + 8}::text[]`).join(', ')

const writeStatement = `
  with added as (
    insert into audit_log (event, seq, hash, ${columnNames})
    select event::json, seq::bigint, hash, ${columnValues}
      from unnest($5::text[], $6::text[], $7::text[], ${columnArrays}) as t (event, seq, hash, ${columnNames}))
  update audit_heads h set seq = t.seq::bigint, hash = t.hash, at = $1, checkpoint_at = ${checkpointAt}
    from unnest($2::text[], $3::text[], $4::text[]) as t (workspace_id, seq, hash)
   where h.workspace_id = t.workspace_id`

/** Inserts the events and updates the heads of their chains in one statement. */
async function write(sql: Sql, links: Link[], now: Instant): Promise<void> {
  const heads = [...new Map(links.map((link) => [link.event.workspaceId, link])).values()]
  await sql.unsafe(
    writeStatement,
    [
      now,
      heads.map(({ event }) => event.workspaceId),
      heads.map(({ seq }) => String(seq)),
      heads.map(({ hash }) => hash),
      jsonArray(links.map(({ event }) => stringifyExact(event))),
      links.map(({ seq }) => String(seq)),
      links.map(({ hash }) => hash),
      ...columns.map(({ of }) => links.map(({ event }) => toText(of(event)))),
    ],
    prepared,
  )
}

const toText = (value: string | number | null | undefined) => (value == null ? null : String(value))
