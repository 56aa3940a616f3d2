import { type ErrorDetail, KnownMembers, type TenantScope } from '@opsplane/contracts'
import { type ServiceClient, validationFailed } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { type BackgroundWork, openServiceClient, type ServiceContext } from '@opsplane/service'
import { LRUCache } from 'lru-cache'

/** User ids by their path in the body, such as `tasks/0/assigneeId`; `null` for no user. */
export type NamedPeople = Readonly<Record<string, string | readonly string[] | null | undefined>>

/** Validates the users that records name. */
export interface People {
  /**
   * Throws validation_failed naming each field whose user is not a member of the
   * workspace. Users that the same field named `before` may stay. If the settings
   * service is unavailable, every user is accepted, so that work on incidents continues.
   */
  check(tenant: TenantScope, people: NamedPeople, before?: NamedPeople): Promise<void>
}

export interface PeopleOptions {
  settings: Pick<ServiceClient, 'post'>
  log: Logger
  nowMs: () => number
}

/** Accepts every user id. */
export const uncheckedPeople: People = { check: async () => undefined }

/** How long a user counts as a member after a successful check, in milliseconds. */
const cacheMs = 30_000
const maxCached = 10_000

export function createPeople({ settings, log, nowMs }: PeopleOptions): People {
  const knownUntil = new LRUCache<string, number>({ max: maxCached })

  const unknownOf = async ({ workspaceId }: TenantScope, userIds: readonly string[]): Promise<string[]> => {
    const uncachedIds = userIds.filter((id) => (knownUntil.get(`${workspaceId} ${id}`) ?? 0) <= nowMs())
    if (uncachedIds.length === 0) return []
    const known = await settings
      .post('/internal/members', { workspaceId, userIds: uncachedIds }, KnownMembers)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'the settings service is unavailable: user ids are not checked')
        return { userIds: uncachedIds }
      })
    for (const id of known.userIds) knownUntil.set(`${workspaceId} ${id}`, nowMs() + cacheMs)
    return uncachedIds.filter((id) => !known.userIds.includes(id))
  }

  return {
    async check(tenant, people, before = {}) {
      const fields = Object.entries(people).flatMap(([field, value]) =>
        toFields(field, value).filter(({ id }) => !toIds(before[field]).includes(id)),
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
                message: 'is not a member of this workspace',
              },
            ]
          : [],
      )
      if (details.length > 0) throw validationFailed(details)
    },
  }
}

const toIds = (value: NamedPeople[string]): readonly string[] =>
  value === null || value === undefined ? [] : typeof value === 'string' ? [value] : value

/** For a list, each user is named with its index. */
const toFields = (field: string, value: NamedPeople[string]) =>
  toIds(value).map((id, index) => ({ id, field: typeof value === 'string' ? field : `${field}/${index}` }))

/** Uses the settings service if the configuration contains its URL. Otherwise accepts every user id. */
export function openPeople(ctx: ServiceContext): { people: People; background: BackgroundWork[] } {
  if (ctx.config.serviceUrls.settings === undefined) return { people: uncheckedPeople, background: [] }
  const settings = openServiceClient(ctx, 'settings', 2_000)
  return {
    people: createPeople({ settings, log: ctx.log, nowMs: () => performance.now() }),
    background: [settings],
  }
}
