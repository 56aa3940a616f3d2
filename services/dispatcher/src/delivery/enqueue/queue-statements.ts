import type { TenantScope } from '@opsplane/contracts'
import type { ChangedSignals } from '@opsplane/nats'
import type { Database } from '@opsplane/postgres'
import { updateQueuesSql } from '../due-rows.js'

type Sql = Pick<Database['sql'], 'unsafe'>

export interface ClaimOptions {
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

/** What a replica needs of the queues. */
export interface QueueRows {
  /**
   * Leases deliveries of active webhooks whose attempt is due or whose lease has ended, a few per webhook, so that one
   * with a long backlog leaves room for others.
   */
  claim(options: ClaimOptions): Promise<Claimed[]>
  /** Milliseconds until something is due, of whichever active webhook but these; undefined when nothing is. */
  nextDueIn(except: string[]): Promise<number | undefined>
  /**
   * Ends some of what deleted webhooks left unfinished, and forgets which positions are fanned out once the consumer's floor
   * says so. False when there is nothing more to end.
   */
  cleanUp(limit: number): Promise<boolean>
  /** Fails deliveries that it has leased, whose events are gone. */
  failWithoutEvent(ids: string[]): Promise<void>
  /** Gives back what it has leased of these. */
  release(ids: string[]): Promise<void>
  /** Gives back all that it, or a process before it of its name, has leased. */
  reclaim(): Promise<void>
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

export interface QueueRowsOptions {
  sql: Sql
  /** Names this replica on leases: the same after a restart, which so reclaims what it had. */
  owner: string
  /** The consumer that fans out. */
  consumer: string
  /** Called once deliveries that have changed are committed. */
  changed: ChangedSignals['changed']
}

export function createQueueRows({ sql, owner, consumer, changed }: QueueRowsOptions): QueueRows {
  const prepared = { prepare: true }
  return {
    async claim({ leaseMs, except, perWebhook, limit, bytes, drain }) {
      const parameters = [owner, leaseMs, except, perWebhook, limit, bytes, drain.step, drain.everyMs]
      return sql.unsafe<Claimed[]>(claimStatement, parameters, prepared)
    },
    async nextDueIn(except) {
      const [row] = await sql.unsafe<{ ms: number }[]>(nextDueStatement, [except], prepared)
      return row?.ms
    },
    async cleanUp(limit) {
      const parameters = [limit, consumer]
      const [row] = await sql.unsafe<{ ended: number | null }[]>(cleanUpStatement, parameters, prepared)
      return typeof row?.ended === 'number'
    },
    async failWithoutEvent(ids) {
      if (ids.length === 0) return
      const failed = await sql.unsafe<TenantRow[]>(failStatement, [ids, owner], prepared)
      for (const row of failed) changed(toTenant(row), row.id)
    },
    async release(ids) {
      if (ids.length > 0) await sql.unsafe(releaseStatement, [owner, ids], prepared)
    },
    async reclaim() {
      await sql.unsafe(releasing('lease_owner = $1'), [owner])
    },
  }
}

type TenantRow = Pick<Claimed, 'id' | 'workspace_id' | 'environment'>

/** Rows have the environment of an event, which was checked. */
export const toTenant = (row: Omit<TenantRow, 'id'>): TenantScope => ({
  workspaceId: row.workspace_id,
  environment: row.environment as TenantScope['environment'],
})

const claimStatement = `
select c.*, w.* from claim_deliveries($1, $2::bigint, $3::text[], $4, $5, $6::bigint, $7, $8::bigint) c
left join lateral (
  select workspace_id, environment, state::text from webhooks
  where id = c.webhook_id and version = c.version offset 0) w on true`

const nextDueStatement = `
select (next_due_at - now_ms())::float8 as ms from webhook_queues
where status = 'active' and next_due_at is not null and webhook_id <> all ($1::text[])
order by next_due_at limit 1`

const cleanUpStatement = `
with dropped as (
  delete from fan_out_marks m using consumer_floors f
  where f.consumer = $2 and f.source = m.source and m.last <= f.position
)
select end_deleted($1) as ended`

/** Of deliveries whose event is gone: there is nothing to send. */
const failStatement = `
update deliveries set status = 'failed', due_at = null, lease_owner = null,
  last_error_kind = 'event_missing', last_error_message = 'The event of this delivery has been deleted by retention.',
  change_position = nextval('delivery_changes')
where id = any ($1::text[]) and lease_owner = $2 and status in ('pending', 'retrying')
returning id, workspace_id, environment`

const releasing = (condition: string) => `
with released as (
  update deliveries set due_at = now_ms(), lease_owner = null
  where ${condition} and status in ('pending', 'retrying')
  returning webhook_id, id, due_at
)
${updateQueuesSql('released')}`

const releaseStatement = releasing('id = any ($2::text[]) and lease_owner = $1')
