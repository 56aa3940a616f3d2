import { randomUUID } from 'node:crypto'
import { GrantedBudgets, type TenantScope } from '@opsplane/contracts'
import { createBudgets, createLimits, type GrantLeases, type LimitValues } from '@opsplane/runtime'
import type { ServiceClient } from '../calls/service-client.js'

/** Spends of the bytes a workspace may send outwards per minute. Throws `rate_limited`. */
export type SpendEgress = (tenant: Pick<TenantScope, 'workspaceId'>, bytes: number) => void

type Settings = Pick<ServiceClient, 'post'>

/** Settings counts budgets over the replicas of all services that ask it. `owner`: this replica. */
export const remoteLeases =
  (settings: Settings, owner: string): GrantLeases =>
  async (asks) =>
    (await settings.post('/internal/budgets/lease', { owner, asks }, GrantedBudgets)).leases

/** What the services that call outwards, but for webhooks, may send of a workspace: counted together. */
export function createEgress(
  config: {
    instanceId: string
    limits?: LimitValues
    workspaceLimits?: Readonly<Record<string, LimitValues>>
  },
  settings: Settings,
): SpendEgress {
  const budgets = createBudgets({
    limits: createLimits(config),
    grant: remoteLeases(settings, `${config.instanceId}:${randomUUID()}`),
    monotonicMs: () => performance.now(),
  })
  return (tenant, bytes) => budgets.spend('egressBytesPerMinute', tenant, bytes)
}
