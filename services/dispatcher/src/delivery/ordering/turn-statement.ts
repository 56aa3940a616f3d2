import type { Database } from '@opsplane/postgres'
import { updateQueues } from '../queue/queue-statements.js'

/** The deliveries of one webhook that have one ordering key: one at a time is sent. */
export interface Line {
  webhookId: string
  key: string
  /** The first delivery that waits here, if that is known. */
  place?: string
}

export interface Turns {
  given: number
  above: Required<Line>[]
  last: Line | null
}

/**
 * Gives the turn in these lines: the first unfinished delivery, if it waits, becomes due. Those that wait for the floor
 * alone are returned as `above`. Only deliveries up to the place `floor` have
 * their turn.
 */
export async function giveTurns(sql: Database['sql'], lines: Line[], floor: string): Promise<Turns> {
  const names = [lines.map(({ webhookId }) => webhookId), lines.map(({ key }) => key)]
  return ask(sql, givenLines, [floor, ...names])
}

/** The same in the lines after this one, at most `limit` of them; `last` is null when there are no more. */
export async function sweepTurns(
  sql: Database['sql'],
  after: Line,
  limit: number,
  floor: string,
): Promise<Turns> {
  return ask(sql, allLines, [floor, after.webhookId, after.key, limit])
}

async function ask(sql: Database['sql'], statement: string, parameters: (string | number | string[])[]) {
  const [row] = await sql.unsafe<Turns[]>(statement, parameters, { prepare: true })
  return row ?? { given: 0, above: [], last: null }
}

// As the index has it, or the index is not used.
const unfinished = `ordering_key is not null and status in ('pending', 'retrying')`
// Without a lease and without a time: whoever has had its turn has one of them until it is finished.
const waits = `status in ('pending', 'retrying') and due_at is null and lease_owner is null`

// The head of a line is read anew while it is locked, so that of two replicas only one gives it its turn.
const turn = `
heads as materialized (
  select h.id, h.ordering_place, lines.webhook_id, lines.ordering_key from lines cross join lateral (
    select id, ordering_place, status, due_at, lease_owner from deliveries
    where webhook_id = lines.webhook_id and ordering_key = lines.ordering_key and ${unfinished}
    order by ordering_place, id limit 1) h
  where ${waits}
),
chosen as materialized (
  select id from deliveries
  where id = any (array(select id from heads where ordering_place <= $1::text)) and ${waits}
  for update skip locked
),
-- A webhook that is drained has the turns it missed at the pace of the drain.
given as (
  update deliveries d set due_at = coalesce(
    (select nullif(q.resumed_at, 0) from webhook_queues q where q.webhook_id = d.webhook_id), now_ms())
  where id = any (array(select id from chosen)) returning webhook_id, id, due_at
),
queued as (${updateQueues('given')})
select (select count(*)::int from given) as given,
  coalesce((
    select json_agg(json_build_object('webhookId', webhook_id, 'key', ordering_key, 'place', ordering_place))
    from heads where ordering_place > $1::text), '[]') as above`

const givenLines = `
with lines as materialized (
  select distinct * from unnest($2::text[], $3::text[]) as l (webhook_id, ordering_key)
),
${turn}, null as last`

// The recursive part walks the index from line to line, without reading the deliveries that wait behind the first.
const allLines = `
with recursive walk as (
  (select webhook_id, ordering_key from deliveries
   where ${unfinished} and (webhook_id, ordering_key) > ($2::text, $3::text)
   order by webhook_id, ordering_key limit 1)
  union all
  select next.webhook_id, next.ordering_key from walk cross join lateral (
    select webhook_id, ordering_key from deliveries
    where ${unfinished} and (webhook_id, ordering_key) > (walk.webhook_id, walk.ordering_key)
    order by webhook_id, ordering_key limit 1) next
),
lines as materialized (select webhook_id, ordering_key from walk limit $4::int),
${turn},
  (select json_build_object('webhookId', webhook_id, 'key', ordering_key) from lines
   where (select count(*) from lines) = $4::int order by webhook_id desc, ordering_key desc limit 1) as last`
