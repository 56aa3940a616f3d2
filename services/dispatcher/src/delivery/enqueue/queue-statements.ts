import type { TenantScope } from '@opsplane/contracts'
import type { ChangedSignals } from '@opsplane/nats'
import type { Database } from '@opsplane/postgres'
import { updateQueuesSql } from '../due-rows.js'

type Sql = Pick<Database['sql'], 'unsafe'>

export interface ClaimOptions {
  /** Added to the webhook's own timeout. */
  leaseMs: number
  /** Webhooks to skip. */
  except: string[]
  perWebhook: number
  limit: number
  /** Maximum total length of the events; the first one is claimed whatever its length. */
  bytes: number
  /** Backlog of a paused webhook: number of deliveries per step, and the interval between steps. */
  drain: { step: number; everyMs: number }
}

/** Database operations on the queues that a replica needs. */
export interface QueueRows {
  /**
   * Leases deliveries of active webhooks that are due or whose lease has expired, a few per webhook, so that a long
   * backlog leaves room for other webhooks.
   */
  claim(options: ClaimOptions): Promise<Claimed[]>
  /** Milliseconds until a delivery of an active webhook, except these, is due; `undefined` if there is none. */
  nextDueIn(except: string[]): Promise<number | undefined>
  /**
   * Ends some unfinished deliveries of deleted webhooks, and removes fan-out positions below the consumer's floor.
   * Returns false when no more deliveries have to be ended.
   */
  cleanUp(limit: number): Promise<boolean>
  /** Fails deliveries leased by this replica whose events are gone. */
  failWithoutEvent(ids: string[]): Promise<void>
  /** Releases those of these deliveries that are leased by this replica. */
  release(ids: string[]): Promise<void>
  /** Releases everything leased by this replica, or by an earlier process with its name. */
  reclaim(): Promise<void>
}

export interface Claimed {
  id: string
  webhook_id: string
  workspace_id: string
  environment: string
  /** Version of the webhook. */
  version: number
  /** The webhook as JSON; null if it was changed during the claim. */
  state: string | null
  attempts: number
  cycle_base: number
  ordering_key: string | null
  bytes: number
  /** Null if it was deleted. */
  event: string | null
}

export interface QueueRowsOptions {
  sql: Sql
  /** Names this replica on leases. Unchanged after a restart, so that the replica can reclaim its earlier leases. */
  owner: string
  /** Name of the consumer that fans out. */
  consumer: string
  /** Called after changes of deliveries are committed. */
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

/** The environment in a row comes from a validated event. */
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

/** For deliveries whose event is gone: there is nothing to send. */
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
