import { type ErrorDetail, KnownMembers, type TenantScope } from '@opsplane/contracts'
import { type ServiceClient, validationFailed } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { type BackgroundWork, openServiceClient, type ServiceContext } from '@opsplane/service'
import { LRUCache } from 'lru-cache'

/** What names a person, or several, by its place in the body, such as `tasks/0/assigneeId`; null names nobody. */
export type Named = Readonly<Record<string, string | readonly string[] | null | undefined>>

/** Who the people are that records name. */
export interface People {
  /**
   * Throws validation_failed naming each field whose person is no member of the workspace; whoever the same field named
   * `before` may stay. Where settings does not answer nothing is refused: work on incidents goes on.
   */
  check(tenant: TenantScope, named: Named, before?: Named): Promise<void>
}

export interface PeopleOptions {
  settings: Pick<ServiceClient, 'post'>
  log: Logger
  nowMs: () => number
}

/** Checks nobody. */
export const anybody: People = { check: async () => undefined }

/** For so long is somebody who was found not asked for again. */
const keptForMs = 30_000
const mostKept = 10_000

export function createPeople({ settings, log, nowMs }: PeopleOptions): People {
  const knownUntil = new LRUCache<string, number>({ max: mostKept })

  const unknownOf = async ({ workspaceId }: TenantScope, userIds: readonly string[]): Promise<string[]> => {
    const asked = userIds.filter((id) => (knownUntil.get(`${workspaceId} ${id}`) ?? 0) <= nowMs())
    if (asked.length === 0) return []
    const known = await settings
      .post('/internal/members', { workspaceId, userIds: asked }, KnownMembers)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'could not ask settings for members: people are not checked')
        return { userIds: asked }
      })
    for (const id of known.userIds) knownUntil.set(`${workspaceId} ${id}`, nowMs() + keptForMs)
    return asked.filter((id) => !known.userIds.includes(id))
  }

  return {
    async check(tenant, named, before = {}) {
      const fields = Object.entries(named).flatMap(([field, value]) =>
        placesOf(field, value).filter(({ id }) => !idsOf(before[field]).includes(id)),
      )
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

const idsOf = (value: Named[string]): readonly string[] =>
  value === null || value === undefined ? [] : typeof value === 'string' ? [value] : value

/** Members of a list are named with their index. */
const placesOf = (field: string, value: Named[string]) =>
  idsOf(value).map((id, index) => ({ id, field: typeof value === 'string' ? field : `${field}/${index}` }))

/** Asks settings, where the configuration names it. */
export function openPeople(ctx: ServiceContext): { people: People; background: BackgroundWork[] } {
  if (ctx.config.serviceUrls.settings === undefined) return { people: anybody, background: [] }
  const settings = openServiceClient(ctx, 'settings', 2_000)
  return {
    people: createPeople({ settings, log: ctx.log, nowMs: () => performance.now() }),
    background: [settings],
  }
}
