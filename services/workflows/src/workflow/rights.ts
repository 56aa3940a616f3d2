import {
  missingRights,
  type Permission,
  permissionNotHeld,
  type Subscriber,
  type TenantScope,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import type { SubscriptionRules } from '@opsplane/service'
import { needsOf, subscriptionsOf } from './check/needs.js'

/** What somebody lacks to have runs of this act for them. `hidden`: as `missingRights` has it. */
export const missingFor = (
  held: readonly string[],
  definition: WorkflowDefinition,
  hidden = false,
): Permission[] => missingRights(held, needsOf(definition), hidden)

/** Throws `forbidden` naming what is missing: a workflow does nothing its owner may not do. */
export function requireRights(
  { permissions }: { permissions: readonly string[] },
  definition: WorkflowDefinition,
): void {
  const missing = missingFor(permissions, definition)
  if (missing.length === 0) return
  const message = `What this workflow does takes permissions you do not hold: ${missing.join(', ')}.`
  throw permissionNotHeld(message, missing)
}

/** Throws `forbidden` naming the row rules that hide from somebody what the workflow is started by or waits for. */
export async function requireUnhidden(
  rules: SubscriptionRules,
  subscriber: Subscriber,
  definition: WorkflowDefinition,
  tenant: TenantScope,
): Promise<void> {
  for (const subscription of subscriptionsOf(definition))
    await rules.require(subscriber, tenant, subscription)
}
