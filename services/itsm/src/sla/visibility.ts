import type { RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, exists, inArray, ne, or, type SQL } from 'drizzle-orm'
import { slaEntities } from './entities.js'
import type { SlaEntity } from './entity.js'
import { slaTimers } from './tables.js'

/**
 * The clocks of entities the caller may see, as a condition of a list; undefined where they see all. The present of the
 * entity is asked, also for the past of its clocks.
 */
export function visibleClocks(db: Drizzle, meta: RequestMeta, entities = slaEntities): SQL | undefined {
  const { entityType, entityId, workspaceId, environment } = slaTimers
  const ofKind = ({ entityType: kind, restricted }: SlaEntity) => {
    const visible = restricted?.visibleTo(meta)
    if (!restricted || !visible) return undefined
    const { rows } = restricted
    const same = [eq(rows.id, entityId), eq(rows.workspaceId, workspaceId), eq(rows.environment, environment)]
    const found = db
      .select({ id: rows.id })
      .from(rows)
      .where(and(...same, visible))
    return or(ne(entityType, kind), exists(found))
  }
  return and(...entities.map(ofKind))
}

/** Of these entities of one kind, those the caller may see. */
export async function visibleAmong(
  db: Drizzle,
  { restricted }: SlaEntity,
  ids: string[],
  meta: RequestMeta,
): Promise<ReadonlySet<string>> {
  const visible = restricted?.visibleTo(meta)
  if (!restricted || !visible || ids.length === 0) return new Set(ids)
  const { rows } = restricted
  const { workspaceId, environment } = meta.tenant
  const ofTenant = [eq(rows.workspaceId, workspaceId), eq(rows.environment, environment)]
  const found = await db
    .select({ id: rows.id })
    .from(rows)
    .where(and(...ofTenant, inArray(rows.id, ids), visible))
  return new Set(found.map(({ id }) => String(id)))
}

/** Whether the caller may see an entity that is there. */
export const isVisible = async (
  db: Drizzle,
  kind: SlaEntity,
  id: string,
  meta: RequestMeta,
): Promise<boolean> => (await visibleAmong(db, kind, [id], meta)).has(id)
