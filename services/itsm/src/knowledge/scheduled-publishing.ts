import { Environment, type TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '../cmdb/columns.js'
import { createSweep, type SweepContext } from '../due-sweep.js'
import { article } from './domain.js'
import type { ArticleState } from './state.js'

/** Articles a sweep publishes at most: with their bodies they make one statement. */
export const publishingBatch = 20

/** Of all tenants, by the index of those that wait. What another replica has in hand is left to it. */
export const claim = `
  select workspace_id, environment, version, state from knowledge_articles
  where status = 'scheduled' and (state->>'publishAt') <= $1
  order by (state->>'publishAt') limit $2::int for update skip locked`

interface Due {
  tenant: TenantScope
  state: ArticleState
  version: number
}

/** Publishes what was scheduled once its moment has come, one batch in one transaction. */
export function createScheduledPublishing(ctx: SweepContext) {
  const articles = ctx.store.aggregate(article)
  return createSweep(ctx, {
    claim: claimDue,
    perform: (unit, { tenant, ...current }, now) =>
      unit.handle(articles, current.state.id, { kind: 'publish', now }, { tenant, current }),
  })
}

async function claimDue(tx: StatementRunner, now: string): Promise<Due[]> {
  const rows = await tx.unsafe<
    { workspace_id: string; environment: string; version: number; state: ArticleState }[]
  >(claim, [now, String(publishingBatch)], { prepare: true })
  return rows.map(({ workspace_id, environment, version, state }) => ({
    tenant: { workspaceId: workspace_id, environment: Environment.parse(environment) },
    state,
    version,
  }))
}
