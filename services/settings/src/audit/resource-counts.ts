import {
  type CountedResource,
  countedResources,
  type PlatformEvent,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database, Drizzle } from '@opsplane/postgres'
import { and, eq } from 'drizzle-orm'
import { resourceCounts } from '../schema.js'

type Sql = Pick<Database['sql'], 'unsafe'>

/** Verbs of events after which a resource no longer counts as existing. */
const endings = new Set(['deleted', 'archived', 'removed'])
const countedTypes: ReadonlySet<string> = new Set(countedResources)

/** 1 for an event that creates a counted resource, -1 for one that removes it, else 0. */
function computeDelta(type: string): number {
  const at = type.lastIndexOf('.')
  if (!countedTypes.has(type.slice(0, at))) return 0
  const verb = type.slice(at + 1)
  if (verb === 'created') return 1
  return endings.has(verb) ? -1 : 0
}

/** Updates the counts of created and deleted resources, in the transaction that adds each event to the audit log. */
export async function countResources(sql: Sql, events: readonly PlatformEvent[]): Promise<void> {
  const sums = new Map<string, { key: [string, string, string]; delta: number }>()
  for (const { workspaceId, environment, type } of events) {
    const delta = computeDelta(type)
    if (delta === 0) continue
    const key: [string, string, string] = [workspaceId, environment, type.slice(0, type.lastIndexOf('.'))]
    const sum = sums.get(key.join()) ?? { key, delta: 0 }
    sums.set(key.join(), { key, delta: sum.delta + delta })
  }
  if (sums.size === 0) return
  const rows = [...sums.values()]
  const column = (at: 0 | 1 | 2) => rows.map(({ key }) => key[at])
  await sql.unsafe(
    `insert into resource_counts as c (workspace_id, environment, resource, count)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]::bigint[])
     on conflict (workspace_id, environment, resource) do update set count = c.count + excluded.count`,
    [column(0), column(1), column(2), rows.map(({ delta }) => String(delta))],
    { prepare: true },
  )
}

/** The number of resources of each kind in an environment of a workspace, including zeros. */
export async function readResourceCounts(
  db: Drizzle,
  { workspaceId, environment }: TenantScope,
): Promise<Record<CountedResource, number>> {
  const rows = await db
    .select({ resource: resourceCounts.resource, count: resourceCounts.count })
    .from(resourceCounts)
    .where(and(eq(resourceCounts.workspaceId, workspaceId), eq(resourceCounts.environment, environment)))
  const counts = new Map(rows.map(({ resource, count }) => [resource, count]))
  const entries = countedResources.map((resource) => [resource, Math.max(0, counts.get(resource) ?? 0)])
  return Object.fromEntries(entries) as Record<CountedResource, number>
}
