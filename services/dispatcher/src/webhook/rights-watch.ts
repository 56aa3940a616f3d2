import { Environment, type PlatformEvent, Rights, systemActor } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { missingFor } from './rights.js'
import type { WebhookAggregate } from './webhook-store.js'

export interface RightsWatchOptions {
  aggregate: WebhookAggregate
  settings: Pick<ServiceClient, 'post'>
  /** Called after a webhook was paused. */
  onChange(webhookId: string, tenant: { workspaceId: string; environment: Environment }): Promise<void>
}

/** What can take rights from somebody. */
const watched = ['user.role_changed', 'user.suspended', 'user.deactivated', 'role.*']
const usersAtOnce = 200

/** Pauses the webhooks whose owner may no longer do what they need, as soon as a membership or a role has changed. */
export function watchRights(ctx: ServiceContext, options: RightsWatchOptions): BackgroundWork {
  const { consume, database, clock } = ctx
  const { aggregate, settings } = options

  const suspendAll = async (workspaceId: string, userIds: string[], causationId: string) => {
    const { permissions } = await settings.post('/internal/rights', { workspaceId, userIds }, Rights)
    for (const { id, environment, ownerId, ...needs } of await activeWebhooksOf(
      database,
      workspaceId,
      userIds,
    )) {
      const missing = missingFor(permissions[ownerId] ?? [], needs)
      if (missing.length === 0) continue
      const tenant = { workspaceId, environment }
      const now = clock.now()
      const meta = { tenant, actor: systemActor, now, requestId: null, causationId }
      await aggregate.handle(id, { kind: 'suspend', now, ownerId, missing }, meta)
      await options.onChange(id, tenant)
    }
  }

  return consume({
    durable: 'dispatcher-webhook-rights',
    types: watched,
    perform: async (events) => {
      for (const { workspaceId, id, users } of concerned(events)) {
        const owners = await ownersIn(database, workspaceId, users)
        for (let from = 0; from < owners.length; from += usersAtOnce)
          await suspendAll(workspaceId, owners.slice(from, from + usersAtOnce), id)
      }
    },
  })
}

/** By workspace: who may have lost rights; null: anybody. */
function concerned(events: readonly PlatformEvent[]) {
  const byWorkspace = new Map<string, { workspaceId: string; id: string; users: Set<string> | null }>()
  for (const { id, type, workspaceId, resource } of events) {
    const entry = byWorkspace.get(workspaceId) ?? { workspaceId, id, users: new Set<string>() }
    byWorkspace.set(workspaceId, entry)
    if (type.startsWith('role.')) entry.users = null
    entry.users?.add(resource.id)
  }
  return byWorkspace.values()
}

/** Who owns active webhooks in the workspace. */
async function ownersIn(
  { sql }: Database,
  workspaceId: string,
  users: Set<string> | null,
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
})

async function activeWebhooksOf({ sql }: Database, workspaceId: string, users: string[]) {
  const rows = await sql.unsafe(
    `select id, environment, state->>'ownerId' as "ownerId", state->'headers' as headers, state->'reads' as reads
     from webhooks where workspace_id = $1 and status = 'active' and state->>'ownerId' = any($2::text[]) order by id`,
    [workspaceId, users],
  )
  return z.array(ActiveWebhook).parse(rows)
}
