import { Environment, Filter, Rights, systemActor } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import {
  type BackgroundWork,
  type ServiceContext,
  type SubscriptionRules,
  watchOwnerRights,
} from '@opsplane/service'
import { z } from 'zod'
import { findMissingPermissions } from './rights.js'
import type { WebhookAggregate } from './webhook-store.js'

export interface RightsWatchOptions {
  aggregate: WebhookAggregate
  settings: Pick<ServiceClient, 'post'>
  rules: SubscriptionRules
  /** Called after a webhook was paused. */
  onChange(webhookId: string, tenant: { workspaceId: string; environment: Environment }): void
}

/** Pauses webhooks whose owner has lost a right they need. */
export function watchRights(ctx: ServiceContext, options: RightsWatchOptions): BackgroundWork[] {
  const { database, clock } = ctx
  const { aggregate, settings, rules, onChange } = options
  return watchOwnerRights(ctx, {
    durables: {
      users: 'dispatcher-user-rights',
      roles: 'dispatcher-role-rights',
      tables: 'dispatcher-row-rules',
    },
    ...{ settings, rules },
    ownersIn: (workspaceId, users) => ownersIn(database, workspaceId, users),
    async suspend({ workspaceId, userIds, permissions: held, hides, causationId }) {
      const webhooks = await activeWebhooksOf(database, workspaceId, userIds)
      for (const { id, environment, ownerId, ...needs } of webhooks) {
        const hidden = hides(ownerId, environment, needs)
        const missing = findMissingPermissions(held[ownerId] ?? [], needs, hidden)
        if (missing.length === 0) continue
        const tenant = { workspaceId, environment }
        const now = clock.now()
        const meta = { tenant, actor: systemActor, now, requestId: null, causationId }
        await aggregate.handle(id, { kind: 'suspend', now, ownerId, missing }, meta)
        onChange(id, tenant)
      }
    },
  })
}

/** The owners of active webhooks in the workspace. */
async function ownersIn(
  { sql }: Database,
  workspaceId: string,
  users: readonly string[] | null,
): Promise<string[]> {
  const rows = await sql.unsafe<{ owner: string }[]>(
    `select distinct state->>'ownerId' as owner from webhooks where workspace_id = $1 and status = 'active'
     ${users === null ? '' : "and state->>'ownerId' = any($2::text[])"} order by 1`,
    users === null ? [workspaceId] : [workspaceId, [...users]],
  )
  return rows.map(({ owner }) => owner)
}

const ActiveWebhook = z.object({
  id: z.string(),
  environment: Environment,
  ownerId: z.string(),
  headers: z.record(z.string(), z.string()),
  reads: Rights.shape.permissions.valueType,
  events: z.array(z.string()),
  filter: Filter.nullable(),
})

async function activeWebhooksOf({ sql }: Database, workspaceId: string, users: readonly string[]) {
  const rows = await sql.unsafe(
    `select id, environment, state->>'ownerId' as "ownerId", state->'headers' as headers, state->'reads' as reads,
       state->'events' as events, state->'filter' as filter
     from webhooks where workspace_id = $1 and status = 'active' and state->>'ownerId' = any($2::text[]) order by id`,
    [workspaceId, [...users]],
  )
  return z.array(ActiveWebhook).parse(rows)
}
