import { ApiError, BudgetLeases, GrantedBudgets, RateSpends, SharedRates } from '@opsplane/contracts'
import { callingService, defineRoute, type Route } from '@opsplane/http'
import { type Database, grantBudgetLeases } from '@opsplane/postgres'
import type { LimitName } from '@opsplane/runtime'
import { spendRates } from './rate-buckets.js'

/** Budgets that services other than the gateway also spend. */
const sharedByAll: readonly string[] = ['egressBytesPerMinute', 'traceBytesPerDay'] satisfies LimitName[]

/**
 * Counts budgets across all replicas: those of the gateway, which has no database, and those shared by other
 * services.
 */
export function budgetRoutes({ sql }: Pick<Database, 'sql'>): Route[] {
  return [
    defineRoute({
      operationId: 'leaseBudgets',
      method: 'post',
      path: '/internal/budgets/lease',
      summary: 'Lease parts of shared budgets',
      tag: 'Internal',
      scope: 'service',
      callers: ['gateway', 'integrations', 'workflows', 'sdk'],
      idempotency: 'none',
      body: BudgetLeases,
      response: GrantedBudgets,
      handler: async ({ body: { owner, asks }, meta }) => {
        const caller = callingService(meta.principal)
        if (caller !== 'gateway' && asks.some(({ name }) => !sharedByAll.includes(name)))
          throw new ApiError('forbidden', 'Only the gateway may use request budgets.')
        // The caller defines the names; here they only distinguish budgets.
        const leaseRequests = asks.map((request) => ({ ...request, name: request.name as LimitName }))
        return { leases: await grantBudgetLeases(sql, `${caller}:${owner}`, leaseRequests) }
      },
    }),
    defineRoute({
      operationId: 'spendRates',
      method: 'post',
      path: '/internal/rates/spend',
      summary: 'Record accepted requests and get the remaining rates',
      tag: 'Internal',
      scope: 'service',
      callers: ['gateway'],
      idempotency: 'none',
      body: RateSpends,
      response: SharedRates,
      handler: ({ body }) => spendRates({ sql }, body),
    }),
  ]
}
