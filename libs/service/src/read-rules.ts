import {
  type EventSubscription,
  hiddenByRules,
  type ReadRule,
  ReadRules,
  reachesRecords,
  rulesAgainst,
  type Subscriber,
  type TenantScope as Tenant,
} from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'

/** The studio's row rules as applied to events (ADR 132). */
export interface SubscriptionRules {
  /** All row rules that limit which records of a table a user reads. */
  of(workspaceId: string): Promise<ReadRule[]>
  /** Whether no rule hides events of the subscription from its owner. */
  permits(subscriber: Subscriber, tenant: Tenant, subscription: EventSubscription): Promise<boolean>
  /** Throws `forbidden` naming the rules that hide events of the subscription from its owner. */
  require(subscriber: Subscriber, tenant: Tenant, subscription: EventSubscription): Promise<void>
}

export function createSubscriptionRules(studio: Pick<ServiceClient, 'post'>): SubscriptionRules {
  const of: SubscriptionRules['of'] = async (workspaceId) =>
    (await studio.post('/internal/read-rules', { workspaceId }, ReadRules)).rules
  const against = async (
    subscriber: Subscriber,
    { workspaceId, environment }: Tenant,
    subscription: EventSubscription,
  ) =>
    reachesRecords(subscription)
      ? rulesAgainst(await of(workspaceId), subscriber, environment, subscription)
      : []
  return {
    of,
    permits: async (...args) => (await against(...args)).length === 0,
    async require(...args) {
      const rules = await against(...args)
      if (rules.length > 0) throw hiddenByRules(rules)
    },
  }
}
