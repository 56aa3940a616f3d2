import type { HoldReason, IncidentPatch, TenantScope } from '@opsplane/contracts'
import type { RequiresUnchanged } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { checkIncidentItem } from '../../cmdb/item/incident-item.js'
import { checkChangeAwaited, checkChangeLink } from '../../links/change-link.js'
import { checkProblemAwaited, checkProblemLink } from '../../links/problem-link.js'

/** The fields of an incident that name other records. */
export interface IncidentLinks
  extends Pick<IncidentPatch, 'ciId' | 'problemId' | 'changeId' | 'causedByChangeId'> {
  holdReason?: HoldReason | null | undefined
}

/**
 * Checks that the records named by a new or changed incident exist. The item it named `before` may stay. Ensures that
 * the item is still in service when the unit is committed. Throws validation_failed naming the field.
 */
export async function checkIncidentLinks(
  db: Drizzle,
  tenant: TenantScope,
  links: IncidentLinks,
  unit: RequiresUnchanged,
  before: () => Promise<IncidentLinks | undefined> = async () => undefined,
): Promise<void> {
  await checkIncidentItem(db, tenant, links.ciId, unit, async () => (await before())?.ciId)
  await checkProblemLink(db, tenant, links.problemId)
  for (const field of ['changeId', 'causedByChangeId'] as const)
    await checkChangeLink(db, tenant, `/${field}`, links[field])
  await checkAwaited(db, tenant, links, before)
}

/** An incident cannot begin to wait for a problem or change that has ended: it would wait forever. */
async function checkAwaited(
  db: Drizzle,
  tenant: TenantScope,
  { holdReason, ...links }: IncidentLinks,
  before: () => Promise<IncidentLinks | undefined>,
): Promise<void> {
  if (holdReason !== 'awaiting_problem' && holdReason !== 'awaiting_change') return
  const incident = await before()
  if (incident?.holdReason === holdReason) return
  const { problemId = incident?.problemId, changeId = incident?.changeId } = links
  if (holdReason === 'awaiting_problem' && problemId) await checkProblemAwaited(db, tenant, problemId)
  if (holdReason === 'awaiting_change' && changeId) await checkChangeAwaited(db, tenant, changeId)
}
