import { type ErrorDetail, KnownMembers, type TenantScope } from '@opsplane/contracts'
import { type ServiceClient, validationFailed } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { type BackgroundWork, openNeighbour, type ServiceContext } from '@opsplane/service'

type Field = 'assigneeId' | 'callerId'
/** Fields that name a person; null names nobody. */
export type Named = Partial<Record<Field, string | null | undefined>>

/** Who the people are that records name. */
export interface People {
  /**
   * Throws validation_failed naming each field whose person is nobody of the workspace; whoever was named `before` may
   * stay. Where settings does not answer nothing is refused: work on incidents goes on.
   */
  check(tenant: TenantScope, named: Named, before?: Named): Promise<void>
}

export interface PeopleOptions {
  settings: Pick<ServiceClient, 'post'>
  log: Logger
  nowMs: () => number
}

/** Holds nobody against anything. */
export const anybody: People = { check: async () => undefined }

/** For so long is somebody who was found not asked for again. */
const keptForMs = 30_000
const mostKept = 10_000

export function createPeople({ settings, log, nowMs }: PeopleOptions): People {
  const knownUntil = new Map<string, number>()

  const unknownOf = async ({ workspaceId }: TenantScope, userIds: readonly string[]): Promise<string[]> => {
    const asked = userIds.filter((id) => (knownUntil.get(`${workspaceId} ${id}`) ?? 0) <= nowMs())
    if (asked.length === 0) return []
    const known = await settings
      .post('/internal/members', { workspaceId, userIds: asked }, KnownMembers)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'could not ask settings for members: people are not checked')
        return { userIds: asked }
      })
    if (knownUntil.size > mostKept) knownUntil.clear()
    for (const id of known.userIds) knownUntil.set(`${workspaceId} ${id}`, nowMs() + keptForMs)
    return asked.filter((id) => !known.userIds.includes(id))
  }

  return {
    async check(tenant, named, before = {}) {
      const fields = (['assigneeId', 'callerId'] as const).flatMap((field) => {
        const id = named[field]
        return id && id !== before[field] ? [{ field, id }] : []
      })
      if (fields.length === 0) return
      const unknown = await unknownOf(tenant, [...new Set(fields.map(({ id }) => id))])
      const details = fields.flatMap(({ field, id }): ErrorDetail[] =>
        unknown.includes(id)
          ? [
              {
                in: 'body',
                path: `/${field}`,
                code: 'unknown_user',
                message: 'is no member of this workspace',
              },
            ]
          : [],
      )
      if (details.length > 0) throw validationFailed(details)
    },
  }
}

/** Asks settings, where the configuration names it. */
export function openPeople(ctx: ServiceContext): { people: People; background: BackgroundWork[] } {
  if (ctx.config.serviceUrls.settings === undefined) return { people: anybody, background: [] }
  const settings = openNeighbour(ctx, 'settings', 2_000)
  return {
    people: createPeople({ settings, log: ctx.log, nowMs: () => performance.now() }),
    background: [settings],
  }
}
