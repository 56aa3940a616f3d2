import { Environment, platformTenant, systemActor, type TenantScope } from '@opsplane/contracts'
import { type BackendContext, VersionRaceError } from '@opsplane/eventstore'
import type { Database } from '@opsplane/postgres'
import { article } from './domain.js'
import type { ArticleState } from './state.js'

/** Articles a sweep publishes at most: with their bodies they make one statement. */
export const publishingBatch = 20

export interface PublishingContext extends Pick<BackendContext, 'database' | 'store' | 'clock'> {
  relay: Pick<BackendContext['relay'], 'wake'>
}

/** Tenants are walked by the index, one step each; articles that wait are found by their status. */
const claim = `
  with recursive tenants as (
    (select workspace_id, environment from knowledge_articles order by workspace_id, environment limit 1)
    union all
    select next.workspace_id, next.environment from tenants t
    cross join lateral (
      select a.workspace_id, a.environment from knowledge_articles a
      where (a.workspace_id, a.environment) > (t.workspace_id, t.environment)
      order by a.workspace_id, a.environment limit 1) next)
  select due.workspace_id, due.environment, due.version, due.state from tenants t
  cross join lateral (
    select a.workspace_id, a.environment, a.version, a.state from knowledge_articles a
    where a.workspace_id = t.workspace_id and a.environment = t.environment
      and a.status = 'scheduled' and (a.state->>'publishAt') <= $1
    order by a.created_at, a.id limit $2::int for update of a skip locked) due
  limit $2::int`

interface Due {
  tenant: TenantScope
  state: ArticleState
  version: number
}

/** Publishes what was scheduled once its moment has come, one batch in one transaction. */
export function createScheduledPublishing({ database, store, clock, relay }: PublishingContext) {
  const articles = store.aggregate(article)

  async function publishBatch(): Promise<number> {
    const now = clock.now()
    const meta = { tenant: platformTenant, actor: systemActor, now, requestId: null }
    return database.sql.begin(async (tx) => {
      const due = await claimDue(tx, now)
      await store.within(tx, meta, async (unit) => {
        for (const { tenant, ...current } of due)
          await unit.handle(articles, current.state.id, { kind: 'publish', now }, { tenant, current })
      })
      return due.length
    })
  }

  /** How many it took. */
  async function sweep(): Promise<number> {
    try {
      const published = await publishBatch()
      if (published > 0) relay.wake()
      return published
    } catch (error) {
      // Somebody has written to one of them in this very moment: the next sweep looks again.
      if (error instanceof VersionRaceError) return 0
      throw error
    }
  }

  return { sweep }
}

async function claimDue(tx: Pick<Database['sql'], 'unsafe'>, now: string): Promise<Due[]> {
  const rows = await tx.unsafe<
    { workspace_id: string; environment: string; version: number; state: ArticleState }[]
  >(claim, [now, String(publishingBatch)], { prepare: true })
  return rows.map(({ workspace_id, environment, version, state }) => ({
    tenant: { workspaceId: workspace_id, environment: Environment.parse(environment) },
    state,
    version,
  }))
}
