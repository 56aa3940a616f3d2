import type { Database } from '@opsplane/postgres'
import { type LogEdge, logEdge } from '../log-end.js'
import { type LoggedEvent, loggedEventColumns } from '../logged-events.js'
import { type Refill, refillOutbox } from './refill-outbox.js'
import type { StreamMark } from './stream-marks.js'

/** The right to publish: a row of `leases`, by the database's clock. The fence grows with each change of owner. */
export interface Lease {
  owner: string
  fence: string
}

interface PollResult {
  /** Whether the lease was renewed; `undefined` if no renewal was requested. */
  isLeaseHeld: boolean | undefined
  workspaces: { workspaceId: string; positions: number[] }[]
}

export interface Progress {
  /** Published positions to delete from the outbox. */
  done: number[]
  mark: StreamMark | undefined
  /** Numbers of marks to drop. */
  superfluous: number[]
}

interface PolledRow {
  held?: boolean
  workspaces: PollResult['workspaces']
}

/** The database connections the relay uses. */
export type RelayDatabase = Pick<Database, 'sql' | 'planned'>

/** The relay's statements. None depends on a session, so they work through a transaction pooler. */
export interface RelayStore {
  /**
   * Acquires the lease if it is free or already this owner's. `fence` is that of the previous acquisition,
   * `undefined` at the start: the lease of an earlier process with the same identity is then taken over immediately.
   * Later a free lease is not acquired while nothing waits. Resolves to the remaining ms if another owner has it. In
   * a copy of the database that was not adopted as a separate installation, the lease is never free.
   */
  acquireLease(owner: string, fence: string | undefined): Promise<Lease | { freeInMs: number }>
  release(lease: Lease): Promise<void>
  /** Reads positions above `after`, and renews the lease if it is given. */
  poll(after: number, limit: number, lease?: Lease): Promise<PollResult>
  edge(): Promise<LogEdge>
  events(positions: number[]): Promise<LoggedEvent[]>
  /** `false` if another owner has the lease; nothing was done then. */
  record(lease: Lease, progress: Progress): Promise<boolean>
  /** Removes an event from the outbox that NATS refuses for its size, and records it as a dead letter. */
  giveUp(lease: Lease, event: LoggedEvent, reason: string): Promise<void>
  marks(): Promise<StreamMark[]>
  /** Runs `refillOutbox` in one transaction; `undefined` if another owner has the lease. */
  refill(lease: Lease, from: Refill): Promise<{ floor: number; events: number } | undefined>
}

/** Far below the duplicate window of the stream, within which events published by two replicas are recognized. */
export const leaseMs = 5_000
/** A free lease is acquired after this time even without waiting events: its former owner seems to have ended. */
const abandonedMs = 10_000

const heldLease = `held as (update leases set expires_at = now() + interval '${leaseMs} ms'
  where name = 'relay' and owner = $1 and fence = $2::text::bigint returning 1)`
const isLeaseHeld = 'exists (select from held)'

const acquireLease = `
  with taken as (update leases set owner = $1, expires_at = now() + interval '${leaseMs} ms',
      fence = fence + (owner <> $1 or $2::text is null)::int
    where name = 'relay' and ((owner = $1 and ($2::text is null or fence = $2::text::bigint))
      or (expires_at < now() and ($2::text is null or exists (select from outbox)
        or expires_at < now() - interval '${abandonedMs} ms')))
      and opsplane.is_in_place()
    returning fence),
  made as (insert into leases (name, owner, fence, expires_at)
    select 'relay', $1, 1, now() + interval '${leaseMs} ms'
    where not exists (select from leases where name = 'relay') and opsplane.is_in_place() on conflict do nothing returning fence)
  select coalesce((select fence from taken), (select fence from made))::text as fence,
    (select extract(epoch from expires_at - now())::float8 * 1000 from leases
     where name = 'relay' and isfinite(expires_at)) as "freeInMs"`

const positionsAbove = (parameter: number) => `
  (select json_agg(workspace) from (
     select workspace_id as "workspaceId", json_agg(position order by position) as positions
     from (select position, workspace_id from outbox where position > $${parameter}::text::bigint
           order by position limit $${parameter + 1}::text::int) as found
     group by workspace_id) as workspace) as workspaces`
const pollOutbox = `select ${positionsAbove(1)}`
const pollAndRenew = `with ${heldLease} select ${isLeaseHeld} as held, ${positionsAbove(3)}`

/** Joined event by event, so that each lookup reads only the partition its id belongs to. */
const waitingEvents = `
  select e.* from (select event_id from outbox where position = any($1::text[]::bigint[]) offset 0) as o
  cross join lateral (select ${loggedEventColumns} from events as e where e.id = o.event_id offset 0) as e`

const recordProgress = `
  with ${heldLease},
  gone as (delete from outbox where position = any($3::text[]::bigint[]) and ${isLeaseHeld}),
  dropped as (delete from stream_marks where number = any($4::text[]::bigint[]) and ${isLeaseHeld}),
  marked as (insert into stream_marks as m (number, identity, generation, sequence, message_id, floor)
    select $5::text::bigint, $6, $7::text::int, $8::text::bigint, $9, $10::text::bigint
    where $5::text is not null and ${isLeaseHeld}
    on conflict (number) do update
      set sequence = excluded.sequence, message_id = excluded.message_id, floor = excluded.floor)
  select ${isLeaseHeld} as held`

const deadLetterEvent = `
  with ${heldLease},
  gone as (delete from outbox where position = $3::text::bigint and ${isLeaseHeld})
  insert into dead_letters (consumer, message_id, subject, stream_sequence, payload, error, cause, deliveries)
  select 'relay', id, type, position, data::text, $5, 'payload_too_large', 1 from events where id = $4 and ${isLeaseHeld}
  on conflict do nothing`

const readMarks = `
  select number::float8 as number, identity, generation, sequence::float8 as sequence, message_id as "messageId",
    floor::float8 as floor, extract(epoch from now() - created_at)::float8 * 1000 as "ageMs"
  from stream_marks order by number`

/**
 * The statements use the write connections, which nothing blocks: a lease that is renewed late is lost. A refill
 * may take long, and does not use them.
 */
export function createRelayStore({ sql, planned }: RelayDatabase): RelayStore {
  const run = <Row extends object>(text: string, parameters: (string | null | string[])[] = []) =>
    planned.unsafe<Row[]>(text, parameters as string[], { prepare: true })
  const texts = (positions: readonly number[]) => positions.map(String)

  return {
    async acquireLease(owner, fence) {
      const [row] = await run<{ fence: string | null; freeInMs: number | null }>(acquireLease, [
        owner,
        fence ?? null,
      ])
      return row?.fence ? { owner, fence: row.fence } : { freeInMs: row?.freeInMs ?? 0 }
    },
    async release({ owner, fence }) {
      await run(
        `update leases set expires_at = '-infinity'
         where name = 'relay' and owner = $1 and fence = $2::text::bigint`,
        [owner, fence],
      )
    },
    async poll(after, limit, lease) {
      const [row] = lease
        ? await run<PolledRow>(pollAndRenew, [lease.owner, lease.fence, String(after), String(limit)])
        : await run<PolledRow>(pollOutbox, [String(after), String(limit)])
      return { isLeaseHeld: row?.held, workspaces: row?.workspaces ?? [] }
    },
    edge: () => logEdge(planned),
    events: (positions) => run<LoggedEvent>(waitingEvents, [texts(positions)]),
    async record({ owner, fence }, { done, mark, superfluous }) {
      const markParameters = mark
        ? [mark.number, mark.identity, mark.generation, mark.sequence, mark.messageId, mark.floor]
        : [null, null, null, null, null, null]
      const [row] = await run<{ held: boolean }>(recordProgress, [
        owner,
        fence,
        texts(done),
        texts(superfluous),
        ...markParameters.map((value) => (value === null ? null : String(value))),
      ])
      return row?.held === true
    },
    async giveUp({ owner, fence }, event, reason) {
      await run(deadLetterEvent, [owner, fence, event.position, event.id, reason])
    },
    async marks() {
      const now = performance.now()
      const rows = await run<Omit<StreamMark, 'at'> & { ageMs: number }>(readMarks)
      return rows.map(({ ageMs, ...mark }) => ({ ...mark, at: now - ageMs }))
    },
    refill: ({ owner, fence }, from) =>
      sql.begin(async (tx) => {
        // Replicas that try to acquire the lease meanwhile wait for this row.
        const [row] = await tx.unsafe<{ held: boolean }[]>(
          `with ${heldLease} select ${isLeaseHeld} as held`,
          [owner, fence],
        )
        return row?.held ? refillOutbox(tx, from) : undefined
      }),
  }
}
