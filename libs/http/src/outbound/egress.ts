import type { TenantScope } from '@opsplane/contracts'
import type { ServiceClient } from '../calls/service-client.js'
import { createSharedBudgets, type SharedBudgetsConfig } from '../calls/shared-budgets.js'

/** Spends of the bytes a workspace may send outwards per minute. Throws `rate_limited`. */
export type SpendEgress = (tenant: Pick<TenantScope, 'workspaceId'>, bytes: number) => void

/** What the services that call outwards, but for webhooks, may send of a workspace: counted together. */
export function createEgress(
  config: SharedBudgetsConfig,
  settings: Pick<ServiceClient, 'post'>,
): SpendEgress {
  const budgets = createSharedBudgets(config, settings)
  return (tenant, bytes) => budgets.spend('egressBytesPerMinute', tenant, bytes)
}
