import { invalidField, type TenantScope } from '@opsplane/contracts'
import type { RequiresUnchanged } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { itemStatus } from '../queries.js'
import { configurationItem } from './item-domain.js'

/**
 * Checks that the item of a new or changed incident exists and is not retired, and ensures that this holds when the
 * unit is committed. Throws validation_failed naming /ciId. `before` returns the incident's current `ciId`, which it
 * may keep: incidents from before items existed may have any value.
 */
export async function checkIncidentItem(
  db: Drizzle,
  tenant: TenantScope,
  ciId: string | null | undefined,
  unit: RequiresUnchanged,
  before?: () => Promise<string | null | undefined>,
): Promise<void> {
  if (ciId === undefined || ciId === null) return
  const status = await itemStatus(db, tenant, ciId)
  if (status !== undefined && status !== 'retired')
    return unit.requireUnchanged(configurationItem, ciId, { status })
  if ((await before?.()) === ciId) return
  if (status === 'retired') throw invalidField('/ciId', 'retired', 'The configuration item is retired.')
  throw invalidField(
    '/ciId',
    'unknown_item',
    'There is no such configuration item in this workspace and environment.',
  )
}
