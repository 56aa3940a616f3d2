import { randomUUID } from 'node:crypto'
import { GrantedBudgets } from '@opsplane/contracts'
import {
  type Budgets,
  createBudgets,
  createLimits,
  type GrantLeases,
  type LimitValues,
} from '@opsplane/runtime'
import type { ServiceClient } from './service-client.js'

type Settings = Pick<ServiceClient, 'post'>

export interface SharedBudgetsConfig {
  instanceId: string
  limits?: LimitValues
  workspaceLimits?: Readonly<Record<string, LimitValues>>
}

/** Leases from settings, which counts budgets across the replicas of all services. `owner`: this replica. */
export const remoteLeases =
  (settings: Settings, owner: string): GrantLeases =>
  async (asks) =>
    (await settings.post('/internal/budgets/lease', { owner, asks }, GrantedBudgets)).leases

/** Budgets shared by the replicas of several services. */
export const createSharedBudgets = (config: SharedBudgetsConfig, settings: Settings): Budgets =>
  createBudgets({
    limits: createLimits(config),
    grant: remoteLeases(settings, `${config.instanceId}:${randomUUID()}`),
    monotonicMs: () => performance.now(),
  })
