import { BudgetLeases, GrantedBudgets, RateSpends, SharedRates } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { type Database, grantBudgetLeases } from '@opsplane/postgres'
import type { LimitName } from '@opsplane/runtime'
import type { TakeOnce } from '../taken-calls.js'
import { spendRates } from './rate-buckets.js'

/** Counts over all replicas what the gateway, which has no database, limits. */
export function budgetRoutes({ sql }: Pick<Database, 'sql'>, takeOnce: TakeOnce): Route[] {
  return [
    defineRoute({
      operationId: 'leaseBudgets',
      method: 'post',
      path: '/internal/budgets/lease',
      summary: 'Lease parts of budgets that replicas share',
      tag: 'Internal',
      scope: 'service',
      callers: ['gateway'],
      idempotency: 'none',
      body: BudgetLeases,
      response: GrantedBudgets,
      handler: async ({ body: { owner, asks }, meta }) => {
        await takeOnce(meta)
        // The gateway knows the names; here they only tell budgets apart.
        const named = asks.map((ask) => ({ ...ask, name: ask.name as LimitName }))
        return { leases: await grantBudgetLeases(sql, owner, named) }
      },
    }),
    defineRoute({
      operationId: 'spendRates',
      method: 'post',
      path: '/internal/rates/spend',
      summary: 'Count requests that gateways have let through, and read what is left for all of them',
      tag: 'Internal',
      scope: 'service',
      callers: ['gateway'],
      idempotency: 'none',
      body: RateSpends,
      response: SharedRates,
      handler: async ({ body, meta }) => {
        await takeOnce(meta)
        return spendRates({ sql }, body)
      },
    }),
  ]
}
