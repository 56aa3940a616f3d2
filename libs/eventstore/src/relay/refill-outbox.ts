import type { StatementRunner } from '@opsplane/postgres'
import type { StreamMark } from './stream-marks.js'

/** What a lost stream is to be given again. */
export interface Refill {
  /** Everything above its floor; undefined for everything that is younger than `maxAgeMs`. */
  standing: StreamMark | undefined
  /** 0 for whatever the age. */
  maxAgeMs: number
  /** The stream that is filled, where it ends, and the generation it begins. */
  identity: string
  last: number
  generation: number
}

const batch = 5_000
/** Clocks of replicas, which give the ids, may go wrong by so much. */
const clockSkewMs = 2 * 3_600_000

/**
 * Puts published events into the outbox again, within the caller's transaction, and drops the marks that stand no more.
 * What is below the floor of the remaining mark is confirmed by it alone: it stays, for the next loss may take that
 * too. Returns how many, and after which position.
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

/** Below the first event that may be younger; all of a log that is younger, where those that were made first may stand behind others. */
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
