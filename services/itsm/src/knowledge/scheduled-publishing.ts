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
