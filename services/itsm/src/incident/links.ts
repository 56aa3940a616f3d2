import type { IncidentPatch, TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { checkChangeLink } from '../change/queries.js'
import { checkIncidentItem } from '../cmdb/incident-item.js'
import { checkProblemLink } from '../problem/queries.js'

/** The fields of an incident that name something else. */
export type IncidentLinks = Pick<IncidentPatch, 'ciId' | 'problemId' | 'changeId' | 'causedByChangeId'>

/**
 * Holds what a new incident, or a changed one, names against the tenant's records; what it named `before` it may keep.
 * Throws validation_failed naming the field.
 */
export async function checkIncidentLinks(
  db: Drizzle,
  tenant: TenantScope,
  links: IncidentLinks,
  before: () => Promise<IncidentLinks | undefined> = async () => undefined,
): Promise<void> {
  await checkIncidentItem(db, tenant, links.ciId, async () => (await before())?.ciId)
  await checkProblemLink(db, tenant, links.problemId)
  for (const field of ['changeId', 'causedByChangeId'] as const)
    await checkChangeLink(db, tenant, `/${field}`, links[field])
}
