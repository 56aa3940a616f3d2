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
 * Events that can alter dependencies between items, or the windows that cover an item (through its class, which is lost
 * when the item is deleted). Conflicts do not depend on whether an item is in service or how much redundancy is left.
 */
export const itemEvents: readonly CmdbEventType[] = [
  'ci.relation_added',
  'ci.relation_removed',
  'ci.updated',
  'ci.deleted',
]

/**
 * Returns the pending changes whose conflicts some of the events may have altered, each with one such event.
 * An import produces thousands of events, so the number of queries grows with the number of tenants, not of events.
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
  const reachableItems = await findReachableItems(tenantLinks({ workspaceId, environment }), links)
  const queriedIds =
    reachableItems && reachableItems.size <= maxQueriedItems ? [...reachableItems.keys()] : null
  const rows = await sql.unsafe<{ id: string; ciIds: string[] }[]>(affectedStatement, [
    workspaceId,
    environment,
    [...pendingStatuses],
    [...occupyingStatuses],
    [...reclassed.keys()],
    queriedIds,
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
  const causeOf = (ciId: string) => reclassed.get(ciId) ?? ends.get(reachableItems?.get(ciId) ?? '')
  const touched = ({ ciIds }: { ciIds: string[] }) =>
    reachableItems === null || ciIds.some((ciId) => reclassed.has(ciId) || reachableItems.has(ciId))
  return rows.filter(touched).map(({ id, ciIds }) => ({
    id,
    event: ciIds.map(causeOf).find((event) => event !== undefined) ?? links.at(-1)?.event ?? first,
  }))
}

/** Beyond this number the item ids are not sent to Postgres, which would scan the whole list for each change. */
const maxQueriedItems = 500

/**
 * Selects changes that touch an item whose class changed, and changes that touch an item within reach of an altered
 * relation ($6 null: any item) and either have a dependent_ci conflict or overlap another change and so may get one.
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

/** Returns `null` for relations without impact and for events of other resources. */
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
