import { type TenantScope, tenantKey } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { LRUCache } from 'lru-cache'
import { type Fence, type Target, toTarget, type WebhookRow } from '../../webhook/target.js'

/** Positions from the first to the last. */
type Run = readonly [first: number, last: number]

/** A webhook, and which events it is too young for, by their source. */
export interface Subscriber {
  target: Target
  fences: ReadonlyMap<string, { floor: number; done: readonly Run[] }>
}

/** The webhooks of one tenant, as a snapshot had them. */
export interface LoadedWebhooks {
  tenant: TenantScope
  revision: number
  subscribers: Subscriber[]
}

/** The webhooks of one tenant, as they were at a revision. */
export interface TenantWebhooks {
  tenant: TenantScope
  revision: number
  count: number
  /** Monotonic milliseconds at which the database last said that this is the revision. */
  checkedAt: number
  /** Those that subscribe to this type of event, each once. */
  subscribers(type: string): Subscriber[]
}

export interface WebhookIndex {
  /** Of these tenants, by `tenantKey`; those not in memory are loaded. */
  of(tenants: readonly TenantScope[]): Promise<Map<string, TenantWebhooks>>
  /** What is known of these tenants may not hold any more. */
  forget(tenants: readonly TenantScope[]): void
}

/** Where webhooks are read from. */
export interface WebhookRows {
  /** The webhooks of these tenants in one snapshot; a tenant without a revision is left out. */
  loadWebhooks(tenants: readonly TenantScope[]): Promise<LoadedWebhooks[]>
  /** Gives tenants that never had a webhook a revision. */
  addRevisions(tenants: readonly TenantScope[]): Promise<void>
}

export interface WebhookIndexOptions {
  deliveries: WebhookRows
  /** Monotonic milliseconds. */
  now(): number
}

/** Webhooks kept over all tenants; those of tenants not asked for longest go first. */
const maxKept = 200_000
const rowsAtOnce = 500
const maxLoads = 5

/**
 * Keeps webhooks by the events they subscribe to, tenant by tenant. It is a cache: who inserts deliveries by it has
 * the statement compare the revision, and asks again after `forget` when it is another one.
 */
export function createWebhookIndex({ deliveries, now }: WebhookIndexOptions): WebhookIndex {
  /** A tenant with more webhooks than all have room for is kept by itself. */
  const kept = new LRUCache<string, TenantWebhooks>({
    maxSize: maxKept,
    sizeCalculation: ({ count }) => Math.min(count + 1, maxKept),
  })
  /** How often anything was: what was being loaded then may be older than that. */
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
        const askedAt = now()
        for (const { tenant, revision, subscribers } of await deliveries.loadWebhooks(missing)) {
          const loaded: TenantWebhooks = {
            ...{ tenant, revision, count: subscribers.length },
            // The statement that inserts by it finds out that it is not so any more; nothing is to be believed before.
            checkedAt: forgotten === before ? askedAt : Number.NEGATIVE_INFINITY,
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

/** For tenants that never had a webhook: the row is what their first one and a fan-out agree by. */
const addStatement = `
insert into webhook_revisions (workspace_id, environment, revision)
select workspace_id, environment, 0 from unnest($1::text[], $2::text[]) as t (workspace_id, environment)
order by workspace_id, environment on conflict do nothing`

function fencesOf(fences: readonly Fence[]): Subscriber['fences'] {
  return new Map(fences.map(({ source, floor, done }) => [source, { floor, done: runsOf(done) }]))
}

/** One that no end follows is a run by itself. */
const runsOf = (done: Fence['done']): Run[] =>
  done.flatMap((first, at) => (first > 0 ? [[first, Math.max(first, -(done[at + 1] ?? 0))] as const] : []))

const everything = new Set(['*', 'audit.*'])

/** By the patterns that match a type: itself, each of its prefixes, and those that match everything. */
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

/** Of `a.b.c`: `a.b.c`, `a.*`, `a.b.*` and `*`. */
function patternsOf(type: string): string[] {
  const patterns = [type, '*']
  for (let dot = type.indexOf('.'); dot !== -1; dot = type.indexOf('.', dot + 1))
    patterns.push(`${type.slice(0, dot)}.*`)
  return patterns
}
