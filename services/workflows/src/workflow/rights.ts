import {
  missingPermissionError,
  missingRights,
  type NeededRights,
  type Subscriber,
  type TenantScope,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import type { SubscriptionRules } from '@opsplane/service'
import { findSubscriptions } from './check/needs.js'

/** Throws `forbidden` naming missing permissions: a workflow has no more rights than its owner. */
export function requireRights(
  { permissions }: { permissions: readonly string[] },
  needs: NeededRights,
): void {
  const missing = missingRights(permissions, needs)
  if (missing.length === 0) return
  const message = `This workflow needs permissions you do not have: ${missing.join(', ')}.`
  throw missingPermissionError(message, missing)
}

/**
 * Throws `forbidden` naming the row rules that hide from a person the events that start the workflow or that it waits
 * for.
 */
export async function requireUnhidden(
  rules: SubscriptionRules,
  subscriber: Subscriber,
  definition: WorkflowDefinition,
  tenant: TenantScope,
): Promise<void> {
  for (const subscription of findSubscriptions(definition))
    await rules.require(subscriber, tenant, subscription)
}
