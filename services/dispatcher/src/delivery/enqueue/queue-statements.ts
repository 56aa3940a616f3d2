import type { Transaction } from '@opsplane/eventstore'
import { type Database, toStatementRunner } from '@opsplane/postgres'

type Sql = Pick<Database['sql'], 'unsafe'>

/**
 * The part of a statement that tells the queues of what it made due: `rows` has webhook_id, id and due_at. The queue's
 * row is locked even where nothing changes, which is what a claim relies on. Without a queue the webhook is deleted.
 */
export const updateQueuesSql = (rows: string) => `
  insert into webhook_queues as q (webhook_id, status, next_due_at, oldest_id)
  select webhook_id, 'deleted', min(due_at), min(id) from ${rows} where due_at is not null
  group by webhook_id order by webhook_id
  on conflict (webhook_id) do update set next_due_at = least(q.next_due_at, excluded.next_due_at),
    oldest_id = case when q.next_due_at is null then excluded.oldest_id else least(q.oldest_id, excluded.oldest_id) end
  where q.next_due_at is null or excluded.next_due_at < q.next_due_at or excluded.oldest_id < q.oldest_id`

export interface ClaimOptions {
  owner: string
  /** Beyond the webhook's own timeout. */
  leaseMs: number
  /** Webhooks to pass over. */
  except: string[]
  perWebhook: number
  limit: number
  /** Length of all events together; the first one is claimed whatever its length. */
  bytes: number
  /** What a paused webhook missed: so many at once, so often. */
  drain: { step: number; everyMs: number }
}

/** What a replica asks of the queues. */
export interface QueueRows {
  /** See `claimDue`. */
  claim(options: Omit<ClaimOptions, 'owner'>): Promise<Claimed[]>
  /** See `findNextDueMs`. */
  nextDueIn(except: string[]): Promise<number | undefined>
  /** See `cleanUpQueues`. */
  tidy(limit: number): Promise<boolean>
  /** Fails deliveries that it has leased, whose events are gone. */
  failWithoutEvent(ids: string[]): Promise<void>
  /** Gives back what it has leased of these. */
  release(ids: string[]): Promise<void>
  /** Gives back all that it, or a process before it of its name, has leased. */
  retake(): Promise<void>
}

export interface Claimed {
  id: string
  webhook_id: string
  workspace_id: string
  environment: string
  /** Of the webhook. */
  version: number
  /** The webhook as JSON; null when it was changed as the delivery was claimed. */
  state: string | null
  attempts: number
  cycle_base: number
  ordering_key: string | null
  bytes: number
  /** Null when it was deleted. */
  event: string | null
}

/**
 * Leases deliveries of active webhooks whose attempt is due or whose lease has ended, a few per webhook, so that one
 * with a long backlog leaves room for others.
 */
export async function claimDue(sql: Sql, options: ClaimOptions): Promise<Claimed[]> {
  const { owner, leaseMs, except, perWebhook, limit, bytes, drain } = options
  const parameters = [owner, leaseMs, except, perWebhook, limit, bytes, drain.step, drain.everyMs]
  return sql.unsafe<Claimed[]>(
    `select c.*, w.* from claim_deliveries($1, $2::bigint, $3::text[], $4, $5, $6::bigint, $7, $8::bigint) c
     left join lateral (
       select workspace_id, environment, state::text from webhooks
       where id = c.webhook_id and version = c.version offset 0) w on true`,
    parameters,
    { prepare: true },
  )
}

/** Milliseconds until something is due, of whichever active webhook but these; undefined when nothing is. */
export async function findNextDueMs(sql: Sql, except: string[]): Promise<number | undefined> {
  const [row] = await sql.unsafe<{ ms: number }[]>(
    `select (next_due_at - now_ms())::float8 as ms from webhook_queues
     where status = 'active' and next_due_at is not null and webhook_id <> all ($1::text[])
     order by next_due_at limit 1`,
    [except],
    { prepare: true },
  )
  return row?.ms
}

/**
 * Ends some of what deleted webhooks left unfinished, and forgets which positions are fanned out once the consumer's floor
 * says so. False when there is nothing more to end.
 */
export async function cleanUpQueues(sql: Sql, limit: number, consumer: string): Promise<boolean> {
  const [row] = await sql.unsafe<{ ended: number | null }[]>(
    `with dropped as (
       delete from fan_out_marks m using consumer_floors f
       where f.consumer = $2 and f.source = m.source and m.last <= f.position
     )
     select end_deleted($1) as ended`,
    [limit, consumer],
    { prepare: true },
  )
  return typeof row?.ended === 'number'
}

/** Fails deliveries whose event is gone: there is nothing to send. Returns those it has failed. */
export async function failWithoutEvent(
  sql: Sql,
  owner: string,
  ids: string[],
): Promise<readonly Pick<Claimed, 'id' | 'workspace_id' | 'environment'>[]> {
  if (ids.length === 0) return []
  return sql.unsafe<Pick<Claimed, 'id' | 'workspace_id' | 'environment'>[]>(
    `update deliveries set status = 'failed', due_at = null, lease_owner = null,
       last_error_kind = 'event_missing', last_error_message = 'The event of this delivery has been deleted by retention.',
       change_position = nextval('delivery_changes')
     where id = any ($1::text[]) and lease_owner = $2 and status in ('pending', 'retrying')
     returning id, workspace_id, environment`,
    [ids, owner],
    { prepare: true },
  )
}

const releasing = (condition: string) => `
with released as (
  update deliveries set due_at = now_ms(), lease_owner = null
  where ${condition} and status in ('pending', 'retrying')
  returning webhook_id, id, due_at
)
${updateQueuesSql('released')}`

/** Gives leases back, so that another replica, or this one after its restart, need not wait for their end. */
export async function releaseLeases(sql: Sql, owner: string, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await sql.unsafe(releasing('id = any ($2::text[]) and lease_owner = $1'), [owner, ids], { prepare: true })
}

/** Takes back what a process of this name left when it died. */
export async function reclaimLeases(sql: Sql, owner: string): Promise<void> {
  await sql.unsafe(releasing('lease_owner = $1'), [owner])
}

/** Makes deliveries due that were just sent again, in their transaction; ordered ones wait in their ordering queue instead. */
export async function makeDue(tx: Transaction, ids: string[]): Promise<void> {
  await toStatementRunner(tx).unsafe(
    `with due as (
      update deliveries set due_at = now_ms() where id = any ($1::text[]) and ordering_key is null
      returning webhook_id, id, due_at
    )
    ${updateQueuesSql('due')}`,
    [ids],
  )
}
