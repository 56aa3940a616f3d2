import type { StatementRunner } from '@opsplane/postgres'
import type { StreamMark } from './stream-marks.js'

/** Which events a stream that lost messages must receive again. */
export interface Refill {
  /** Everything above the floor of this mark; if `undefined`, everything younger than `maxAgeMs`. */
  standing: StreamMark | undefined
  /** 0 for events of any age. */
  maxAgeMs: number
  /** The stream to refill, its last sequence, and the generation that begins. */
  identity: string
  last: number
  generation: number
}

const batch = 5_000
/** Maximum assumed error of the replicas' clocks, which determine the ids. */
const clockSkewMs = 2 * 3_600_000

/**
 * Inserts published events into the outbox again, within the caller's transaction, and deletes the marks that no
 * longer hold. Only the remaining mark confirms what is below its floor: it is kept, because the next loss may
 * affect that part as well. Returns the number of events and the position after which they start.
 */
export async function refillOutbox(
  tx: StatementRunner,
  { standing, maxAgeMs, identity, last, generation }: Refill,
): Promise<{ floor: number; events: number }> {
  const start = standing?.floor ?? (await floorOfAge(tx, maxAgeMs))
  let events = 0
  for (let after: number | null = start; after !== null; ) {
    const [row]: { last: number | null; events: number }[] = await tx.unsafe(
      `with found as (select position, workspace_id, id from events where position > $1::text::bigint
         order by position limit ${batch}),
       put as (insert into outbox (position, workspace_id, event_id) select * from found on conflict do nothing
         returning 1)
       select max(position)::float8 as last, (select count(*)::int from put) as events from found`,
      [String(after)],
    )
    after = row?.last ?? null
    events += row?.events ?? 0
  }
  const mark = standing ?? { number: 1, sequence: last, messageId: null }
  await tx.unsafe('delete from stream_marks where number >= $1::text::bigint or $2::text::bool', [
    String(mark.number),
    String(standing === undefined),
  ])
  await tx.unsafe(
    `insert into stream_marks (number, identity, generation, sequence, message_id, floor)
     values ($1::text::bigint, $2, $3::text::int, $4::text::bigint, $5, $6::text::bigint)`,
    [String(mark.number), identity, String(generation), String(mark.sequence), mark.messageId, String(start)],
  )
  return { floor: start, events }
}

/**
 * The position before the first event that may be younger; 0 if the whole log is younger, because its oldest ids
 * may be at later positions.
 */
async function floorOfAge(tx: StatementRunner, maxAgeMs: number): Promise<number> {
  if (maxAgeMs === 0) return 0
  const [row] = await tx.unsafe<{ floor: number }[]>(
    `with oldest as (
       select 'evt_' || ulid_time((extract(epoch from now()) * 1000)::bigint - $1::text::bigint) as id)
     select case when exists (select from events, oldest where events.id < oldest.id) then coalesce(
       (select position - 1 from events where id >= (select id from oldest) order by id limit 1),
       (select max(position) from events)) else 0 end::float8 as floor`,
    [String(maxAgeMs + clockSkewMs)],
  )
  return row?.floor ?? 0
}
