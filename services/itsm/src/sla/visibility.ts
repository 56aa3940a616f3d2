import type { RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, exists, ne, or, type SQL } from 'drizzle-orm'
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

/** Whether the caller may see an entity of this kind that is there. */
export async function isVisible(
  db: Drizzle,
  { restricted }: SlaEntity,
  id: string,
  meta: RequestMeta,
): Promise<boolean> {
  const visible = restricted?.visibleTo(meta)
  if (!restricted || !visible) return true
  const { rows } = restricted
  const { workspaceId, environment } = meta.tenant
  const same = [eq(rows.id, id), eq(rows.workspaceId, workspaceId), eq(rows.environment, environment)]
  const found = await db
    .select({ id: rows.id })
    .from(rows)
    .where(and(...same, visible))
  return found.length > 0
}
