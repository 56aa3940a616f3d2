import type { IncidentPatch, TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { checkIncidentItem } from '../cmdb/incident-item.js'

/** The fields of an incident that name something else. */
export type IncidentLinks = Pick<IncidentPatch, 'ciId' | 'problemId' | 'changeId' | 'causedByChangeId'>

/**
 * Holds what a new incident, or a changed one, names against the tenant's records. Throws validation_failed naming the
 * field. The item is looked up; of problems and changes the schema has checked the form of the id.
 */
export async function checkIncidentLinks(
  db: Drizzle,
  tenant: TenantScope,
  links: IncidentLinks,
  itemBefore?: () => Promise<string | null | undefined>,
): Promise<void> {
  await checkIncidentItem(db, tenant, links.ciId, itemBefore)
}
