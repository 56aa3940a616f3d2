import { type TenantScope, tenantKey } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { LRUCache } from 'lru-cache'
import { type Fence, type Target, toTarget, type WebhookRow } from '../../webhook/target.js'

/** First and last position of a range. */
type Run = readonly [first: number, last: number]

/** A webhook, and per source the events that precede its creation. */
export interface Subscriber {
  target: Target
  fences: ReadonlyMap<string, { floor: number; done: readonly Run[] }>
}

/** The webhooks of one tenant in a database snapshot. */
export interface LoadedWebhooks {
  tenant: TenantScope
  revision: number
  subscribers: Subscriber[]
}

/** The webhooks of one tenant at a revision. */
export interface TenantWebhooks {
  tenant: TenantScope
  revision: number
  count: number
  /** Monotonic milliseconds at which the database last confirmed this revision. */
  checkedAt: number
  /** Webhooks that subscribe to this event type, without duplicates. */
  subscribers(type: string): Subscriber[]
}

export interface WebhookIndex {
  /** The webhooks of these tenants, by `tenantKey`. Loads those not cached. */
  of(tenants: readonly TenantScope[]): Promise<Map<string, TenantWebhooks>>
  /** Removes the cached webhooks of these tenants. */
  forget(tenants: readonly TenantScope[]): void
}

/** Database operations that load webhooks. */
export interface WebhookRows {
  /** The webhooks of these tenants in one snapshot; tenants without a revision are omitted. */
  loadWebhooks(tenants: readonly TenantScope[]): Promise<LoadedWebhooks[]>
  /** Creates the revision of tenants that never had a webhook. */
  addRevisions(tenants: readonly TenantScope[]): Promise<void>
}

export interface WebhookIndexOptions {
  deliveries: WebhookRows
  /** Monotonic milliseconds. */
  now(): number
}

/** Maximum cached webhooks over all tenants; the least recently used tenants are evicted first. */
const maxKept = 200_000
const rowsAtOnce = 500
const maxLoads = 5

/**
 * Caches webhooks by subscribed event type, per tenant. Since it is a cache, the statement that inserts deliveries
 * compares the revision; if it differs, the caller calls `forget` and loads the webhooks again.
 */
export function createWebhookIndex({ deliveries, now }: WebhookIndexOptions): WebhookIndex {
  /** A tenant with more webhooks than the limit is cached alone. */
  const kept = new LRUCache<string, TenantWebhooks>({
    maxSize: maxKept,
    sizeCalculation: ({ count }) => Math.min(count + 1, maxKept),
  })
  /** Number of `forget` calls: webhooks being loaded during such a call may be outdated. */
  let forgotten = 0

  return {
    async of(tenants) {
      const found = new Map<string, TenantWebhooks>()
      for (let loads = 0; ; loads++) {
        for (const tenant of tenants) {
          const webhooks = kept.get(tenantKey(tenant))
          if (webhooks) found.set(tenantKey(tenant), webhooks)
        }
        const missing = tenants.filter((tenant) => !found.has(tenantKey(tenant)))
        if (missing.length === 0) return found
        if (loads === maxLoads) throw new Error(`webhooks of ${missing.length} tenants cannot be loaded`)
        if (loads > 0) await deliveries.addRevisions(missing)
        const before = forgotten
        const loadStartedAt = now()
        for (const { tenant, revision, subscribers } of await deliveries.loadWebhooks(missing)) {
          const loaded: TenantWebhooks = {
            ...{ tenant, revision, count: subscribers.length },
            // If `forget` was called meanwhile, the webhooks are not trusted; the inserting statement detects whether
            // the revision is old.
            checkedAt: forgotten === before ? loadStartedAt : Number.NEGATIVE_INFINITY,
            subscribers: groupByPattern(subscribers),
          }
          kept.set(tenantKey(loaded.tenant), loaded)
          found.set(tenantKey(loaded.tenant), loaded)
        }
      }
    },
    forget(tenants) {
      forgotten++
      for (const tenant of tenants) kept.delete(tenantKey(tenant))
    },
  }
}

interface LoadedRow extends WebhookRow {
  revision: string
  fences: Fence[] | null
}

const columnsOf = (tenants: readonly TenantScope[]) => [
  tenants.map(({ workspaceId }) => workspaceId),
  tenants.map(({ environment }) => environment),
]

export const createWebhookRows = (sql: Database['sql']): WebhookRows => ({
  async loadWebhooks(tenants) {
    const found = new Map<string, LoadedWebhooks>()
    const byKey = new Map(tenants.map((tenant) => [tenantKey(tenant), tenant]))
    const rows = sql.unsafe<LoadedRow[]>(loadStatement, columnsOf(tenants), { prepare: true })
    for await (const page of rows.cursor(rowsAtOnce))
      for (const row of page) {
        const key = `${row.workspace_id}/${row.environment}`
        const tenant = byKey.get(key)
        if (!tenant) continue
        const entry = found.get(key) ?? { tenant, revision: Number(row.revision), subscribers: [] }
        found.set(key, entry)
        if (row.id !== null)
          entry.subscribers.push({ target: toTarget(row), fences: fencesOf(row.fences ?? []) })
      }
    return [...found.values()]
  },
  async addRevisions(tenants) {
    await sql.unsafe(addStatement, columnsOf(tenants), { prepare: true })
  },
})

const loadStatement = `
select a.workspace_id, a.environment, r.revision, w.id, w.version, w.state,
  (select json_agg(json_build_object('source', f.source, 'floor', f.floor, 'done', f.done))
   from webhook_fences f where f.webhook_id = w.id) as fences
from unnest($1::text[], $2::text[]) as a (workspace_id, environment)
join webhook_revisions r on r.workspace_id = a.workspace_id and r.environment = a.environment
left join webhooks w on w.workspace_id = a.workspace_id and w.environment = a.environment`

/** For tenants that never had a webhook: their first webhook and a fan-out synchronize by this row. */
const addStatement = `
insert into webhook_revisions (workspace_id, environment, revision)
select workspace_id, environment, 0 from unnest($1::text[], $2::text[]) as t (workspace_id, environment)
order by workspace_id, environment on conflict do nothing`

function fencesOf(fences: readonly Fence[]): Subscriber['fences'] {
  return new Map(fences.map(({ source, floor, done }) => [source, { floor, done: runsOf(done) }]))
}

/** A start without an end is a run of one position. */
const runsOf = (done: Fence['done']): Run[] =>
  done.flatMap((first, at) => (first > 0 ? [[first, Math.max(first, -(done[at + 1] ?? 0))] as const] : []))

const everything = new Set(['*', 'audit.*'])

/**
 * Groups by the patterns that match a type: the type itself, each of its prefixes, and the
 * patterns that match everything.
 */
export function groupByPattern(subscribers: readonly Subscriber[]): TenantWebhooks['subscribers'] {
  const byPattern = new Map<string, Subscriber[]>()
  for (const subscriber of subscribers)
    for (const pattern of new Set(
      subscriber.target.events.map((event) => (everything.has(event) ? '*' : event)),
    )) {
      const list = byPattern.get(pattern)
      if (list) list.push(subscriber)
      else byPattern.set(pattern, [subscriber])
    }
  const found = new Map<string, Subscriber[]>()
  return (type) => {
    const known = found.get(type)
    if (known) return known
    const all = [...new Set(patternsOf(type).flatMap((pattern) => byPattern.get(pattern) ?? []))]
    found.set(type, all)
    return all
  }
}

/** Patterns for `a.b.c`: `a.b.c`, `a.*`, `a.b.*` and `*`. */
function patternsOf(type: string): string[] {
  const patterns = [type, '*']
  for (let dot = type.indexOf('.'); dot !== -1; dot = type.indexOf('.', dot + 1))
    patterns.push(`${type.slice(0, dot)}.*`)
  return patterns
}
