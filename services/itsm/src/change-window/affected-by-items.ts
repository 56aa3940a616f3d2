import {
  CiRelation,
  type CmdbEventType,
  type PlatformEvent,
  relationImpact,
  tenantKey,
} from '@opsplane/contracts'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import type { AffectedChange } from './affected.js'
import { pendingStatuses } from './conflict-events.js'
import { occupyingStatuses } from './conflict-reader.js'
import { findReachableItems } from './dependency-closure.js'
import type { TenantLinks } from './impact-links.js'
import type { LinkPair } from './links-in-memory.js'

/**
 * The events that can alter what depends on what, or which windows cover an item: by its class, which goes with it.
 * Whether an item is in service, or how much of what it needs is left, does not count in conflicts.
 */
export const itemEvents: readonly CmdbEventType[] = [
  'ci.relation_added',
  'ci.relation_removed',
  'ci.updated',
  'ci.deleted',
]

/**
 * The changes that wait for their time and whose conflicts some of the events may have altered, each with one of these.
 * An import is thousands of them: what is asked of the database grows with the tenants among them, not with the events.
 */
export async function findAffectedByItems(
  sql: StatementRunner,
  events: readonly PlatformEvent[],
  tenantLinks: TenantLinks,
): Promise<AffectedChange[]> {
  const found: AffectedChange[] = []
  const tenants = new Map<string, PlatformEvent[]>()
  for (const event of events) {
    const key = tenantKey(event)
    const own = tenants.get(key) ?? []
    tenants.set(key, own)
    own.push(event)
  }
  for (const own of tenants.values()) found.push(...(await affectedInTenant(sql, own, tenantLinks)))
  return found
}

async function affectedInTenant(
  sql: StatementRunner,
  events: readonly PlatformEvent[],
  tenantLinks: TenantLinks,
): Promise<AffectedChange[]> {
  const [first] = events
  if (!first) return []
  const { workspaceId, environment } = first
  const reclassed = new Map(events.filter(altersClass).map((event) => [event.resource.id, event]))
  const links = events.flatMap((event) => {
    const link = toLinkPair(event)
    return link ? [{ ...link, event }] : []
  })
  if (reclassed.size === 0 && links.length === 0) return []
  const reached = await findReachableItems(tenantLinks({ workspaceId, environment }), links)
  const asked = reached && reached.size <= maxQueriedItems ? [...reached.keys()] : null
  const rows = await sql.unsafe<{ id: string; ciIds: string[] }[]>(affectedStatement, [
    workspaceId,
    environment,
    [...pendingStatuses],
    [...occupyingStatuses],
    [...reclassed.keys()],
    asked,
  ])
  const ends = new Map(
    links.flatMap(
      ({ dependent, dependency, event }) =>
        [
          [dependent, event],
          [dependency, event],
        ] as const,
    ),
  )
  const causeOf = (ciId: string) => reclassed.get(ciId) ?? ends.get(reached?.get(ciId) ?? '')
  const touched = ({ ciIds }: { ciIds: string[] }) =>
    reached === null || ciIds.some((ciId) => reclassed.has(ciId) || reached.has(ciId))
  return rows.filter(touched).map(({ id, ciIds }) => ({
    id,
    event: ciIds.map(causeOf).find((event) => event !== undefined) ?? links.at(-1)?.event ?? first,
  }))
}

/** Of more items Postgres is not asked: it goes through all of them for each change. */
const maxQueriedItems = 500

/**
 * Those that touch an item of another class, and those that touch one within reach of a link ($6 null: any) and keep a
 * conflict over such, or overlap another change and so can get one.
 */
const affectedStatement = `select id, ci_ids as "ciIds" from changes c
  where workspace_id = $1 and environment = $2 and planned_start is not null and status = any($3::text[])
    and (ci_ids ?| $5::text[]
      or ($6::text[] is null or ci_ids ?| $6::text[])
        and (strpos(state->>'conflicts', '"dependent_ci"') > 0 or exists (
          select from changes o
           where o.workspace_id = $1 and o.environment = $2 and o.planned_start is not null
             and planned_span(o.planned_start, o.planned_end) && planned_span(c.planned_start, c.planned_end)
             and o.status = any($4::text[]) and o.id <> c.id)))
  order by id`

const altersClass = ({ type, data }: PlatformEvent) =>
  type === 'ci.deleted' || (type === 'ci.updated' && data.changes.includes('class'))

/** Null for what passes no failure on, and for events of other things. */
function toLinkPair({ type, data }: PlatformEvent): LinkPair | null {
  if (type !== 'ci.relation_added' && type !== 'ci.relation_removed') return null
  const relation = CiRelation.parse(data.after ?? data.before)
  const { sourceId, targetId } = relation
  switch (relationImpact[relation.type]) {
    case 'to_source':
      return { dependent: sourceId, dependency: targetId }
    case 'to_target':
      return { dependent: targetId, dependency: sourceId }
    case 'none':
      return null
  }
}
