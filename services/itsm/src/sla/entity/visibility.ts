import type { TenantScope } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Drizzle, KeysetTable } from '@opsplane/postgres'
import { and, eq, inArray, ne, or, type SQL } from 'drizzle-orm'
import { slaTimers } from '../../schema/sla.js'
import { slaEntities } from './entities.js'
import type { SlaEntity } from './entity.js'

/**
 * Condition for the clocks of entities that the caller may see; `undefined` if they
 * may see all. It applies to the current state of the entity, also for past states
 * of its clocks. The visible entities are determined once, not for each clock.
 */
export function visibleClocks(db: Drizzle, meta: RequestMeta, entities = slaEntities): SQL | undefined {
  const ofKind = ({ entityType: kind, restricted }: SlaEntity) => {
    const visible = restricted?.visibleTo(meta)
    if (!restricted || !visible) return undefined
    const found = db
      .select({ id: restricted.rows.id })
      .from(restricted.rows)
      .where(and(...ofTenant(restricted.rows, meta.tenant), visible))
    return or(ne(slaTimers.entityType, kind), inArray(slaTimers.entityId, found))
  }
  return and(...entities.map(ofKind))
}

const ofTenant = (rows: KeysetTable, { workspaceId, environment }: TenantScope) => [
  eq(rows.workspaceId, workspaceId),
  eq(rows.environment, environment),
]

/** Returns the ids of this kind of entity that the caller may see. */
export async function filterVisible(
  db: Drizzle,
  { restricted }: SlaEntity,
  ids: string[],
  meta: RequestMeta,
): Promise<ReadonlySet<string>> {
  const visible = restricted?.visibleTo(meta)
  if (!restricted || !visible || ids.length === 0) return new Set(ids)
  const { rows } = restricted
  const found = await db
    .select({ id: rows.id })
    .from(rows)
    .where(and(...ofTenant(rows, meta.tenant), inArray(rows.id, ids), visible))
  return new Set(found.map(({ id }) => String(id)))
}

/** Whether the caller may see an existing entity. */
export const isVisible = async (
  db: Drizzle,
  kind: SlaEntity,
  id: string,
  meta: RequestMeta,
): Promise<boolean> => (await filterVisible(db, kind, [id], meta)).has(id)
