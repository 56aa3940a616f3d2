import { type PlatformStatus, WaitingWebhooks } from '@opsplane/contracts'
import type { PlatformClients } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { and, count, desc, eq, inArray, sql } from 'drizzle-orm'
import { memberships, workspaces } from '../schema.js'
import type { AllOperated } from './operated.js'

export interface PlatformStatusOptions {
  db: Drizzle
  operated: AllOperated
  neighbours: PlatformClients
  log: Pick<Logger, 'warn'>
}

const mostWorkspaces = 100
const timeoutMs = 3_000

/** How the whole installation is: counts and names, and no tenant's content. */
export const createPlatformStatus =
  ({ db, operated, neighbours, log }: PlatformStatusOptions) =>
  async (): Promise<PlatformStatus> => {
    /** Null where a service does not answer. */
    const asked = async <T>(service: string, answer: Promise<T>): Promise<T | null> => {
      try {
        return await answer
      } catch (error) {
        log.warn({ err: error, service }, 'a service did not answer how it is')
        return null
      }
    }
    const services = [...operated].map(async ([name, service]) => {
      const [state, figures] = await Promise.all([service.state(), asked(name, service.figures())])
      return { name, state, figures }
    })
    const dispatcher = neighbours.get('dispatcher')
    const signal = AbortSignal.timeout(timeoutMs)
    const waiting =
      dispatcher &&
      asked('dispatcher', dispatcher.get('/internal/operations/webhooks', WaitingWebhooks, { signal }))
    return {
      services: await Promise.all(services),
      ...(await workspacesOf(db)),
      webhooks: (await waiting)?.items ?? null,
    }
  }

async function workspacesOf(db: Drizzle): Promise<Pick<PlatformStatus, 'workspaces' | 'workspaceCount'>> {
  const [all] = await db.select({ total: count() }).from(workspaces)
  const newest = await db
    .select({ id: workspaces.id, slug: workspaces.slug, name: sql<string>`${workspaces.state}->>'name'` })
    .from(workspaces)
    .orderBy(desc(workspaces.createdAt), desc(workspaces.id))
    .limit(mostWorkspaces)
  const ids = newest.map(({ id }) => id)
  const members = await db
    .select({ id: memberships.workspaceId, members: count() })
    .from(memberships)
    .where(and(inArray(memberships.workspaceId, ids), eq(memberships.status, 'active')))
    .groupBy(memberships.workspaceId)
  const membersOf = new Map(members.map((row) => [row.id, row.members]))
  return {
    workspaces: newest.map(({ id, slug, name }) => ({
      ...{ id, slug: slug ?? '', name, members: membersOf.get(id) ?? 0 },
    })),
    workspaceCount: all?.total ?? 0,
  }
}
