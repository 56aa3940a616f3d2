import { Environment, type PlatformEvent, Rights, systemActor } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { missingFor } from './rights.js'
import { versionRef } from './versions.js'
import type { Workflows } from './workflows.js'

/** What can take rights from somebody. */
const watched = ['user.role_changed', 'user.suspended', 'user.deactivated', 'role.*']
const usersAtOnce = 200

/** Deactivates workflows whose owner may no longer do what they need, as soon as a membership or a role has changed. */
export function watchRights(
  { consume, database, clock }: ServiceContext,
  { aggregate, versions }: Pick<Workflows, 'aggregate' | 'versions'>,
  settings: Pick<ServiceClient, 'post'>,
): BackgroundWork {
  const suspendAll = async (workspaceId: string, userIds: string[], causationId: string) => {
    const { permissions } = await settings.post('/internal/rights', { workspaceId, userIds }, Rights)
    for (const { id, environment, ownerId, number } of await activeOf(database, workspaceId, userIds)) {
      const tenant = { workspaceId, environment }
      const { definition } = await versions.load(versionRef(id, number), tenant)
      const held = permissions[ownerId]
      const missing = held ? missingFor(held, definition) : ['membership']
      if (missing.length === 0) continue
      const now = clock.now()
      const meta = { tenant, actor: systemActor, now, requestId: null, causationId }
      await aggregate.handle(id, { kind: 'suspend', now, ownerId, missing }, meta)
    }
  }

  return consume({
    durable: 'workflows-rights',
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

const Owner = z.object({ owner: z.string() })

/** Who owns active workflows in the workspace. */
async function ownersIn(
  { sql }: Database,
  workspaceId: string,
  users: Set<string> | null,
): Promise<string[]> {
  const rows = await sql.unsafe(
    `select distinct owner_id as owner from workflows
     where workspace_id = $1 and status = 'active' and ($2::text[] is null or owner_id = any($2::text[])) order by 1`,
    [workspaceId, users === null ? null : [...users]],
  )
  return z
    .array(Owner)
    .parse([...rows])
    .map(({ owner }) => owner)
}

const Active = z.object({ id: z.string(), environment: Environment, ownerId: z.string(), number: z.int() })

async function activeOf({ sql }: Database, workspaceId: string, users: string[]) {
  const rows = await sql.unsafe(
    `select id, environment, owner_id as "ownerId", (state->>'publishedVersion')::int as number from workflows
     where workspace_id = $1 and status = 'active' and owner_id = any($2::text[]) order by id`,
    [workspaceId, users],
  )
  return z.array(Active).parse([...rows])
}
