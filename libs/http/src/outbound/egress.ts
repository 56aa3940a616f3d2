import type { TenantScope } from '@opsplane/contracts'
import type { ServiceClient } from '../calls/service-client.js'
import { createSharedBudgets, type SharedBudgetsConfig } from '../calls/shared-budgets.js'

/** Counts bytes against a workspace's outbound budget per minute. Throws `rate_limited`. */
export type SpendEgress = (tenant: Pick<TenantScope, 'workspaceId'>, bytes: number) => void

/** Outbound budget of a workspace, shared by all services that call outside, except for webhooks. */
export function createEgress(
  config: SharedBudgetsConfig,
  settings: Pick<ServiceClient, 'post'>,
): SpendEgress {
  const budgets = createSharedBudgets(config, settings)
  return (tenant, bytes) => budgets.spend('egressBytesPerMinute', tenant, bytes)
}
