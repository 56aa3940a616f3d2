import { queryOptions } from '@tanstack/react-query'
import { type ApiKey, createApi, type Notification, type Secret, type User } from '../../api/api.js'
import { type ListPage, pageSize } from '../../api/queries.js'
import type { Place } from '../../place/place.js'
import type { KeySearch, NotificationSearch, UserSearch } from './search.js'

/** Common key prefix of all queries about people, used to invalidate them together. */
export const peopleKey = ({ workspace, environment }: Place) => [workspace, environment, 'people'] as const

interface Answered<Item> {
  data: Item[]
  pagination: { hasMore: boolean; nextCursor: string | null }
}

const pageOf = <Item>({ data, pagination }: Answered<Item>): ListPage<Item> => ({
  items: data,
  next: pagination.hasMore ? (pagination.nextCursor ?? undefined) : undefined,
})

const after = (cursor: unknown) => ({ limit: pageSize, ...(typeof cursor === 'string' && { after: cursor }) })

export async function readUsers(
  place: Place,
  { status, role, q }: UserSearch,
  cursor: unknown,
  signal: AbortSignal,
): Promise<ListPage<User>> {
  const query = { ...after(cursor), ...(status && { status }), ...(role && { role }), ...(q && { q }) }
  return pageOf(await createApi(place).get('/settings/users', { params: { query }, signal }))
}

export const userQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'user', id],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/settings/users/{id}', { params: { path: { id } }, signal })).data,
    refetchInterval: 15_000,
  })

export const userSessionsQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'user-sessions', id],
    queryFn: async ({ signal }) =>
      (
        await createApi(place).get('/settings/users/{id}/sessions', {
          params: { path: { id }, query: { limit: 20 } },
          signal,
        })
      ).data,
    refetchInterval: 15_000,
  })

export const dependentsQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'dependents', id],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/settings/users/{id}/dependents', { params: { path: { id } }, signal }))
        .data,
  })

/** Maximum number of users listed by name; further users are shown by id. */
const maxListedUsers = 200

export const membersQuery = (place: Place, role?: string) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'members', role ?? ''],
    queryFn: async ({ signal }) => {
      const query = { limit: maxListedUsers, ...(role !== undefined && { role }) }
      return (await createApi(place).get('/settings/users', { params: { query }, signal })).data
    },
    staleTime: 30_000,
  })

export const rolesQuery = (place: Place) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'roles'],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/settings/roles', { params: { query: { limit: 200 } }, signal })).data,
    staleTime: 10_000,
  })

/** Reads the API keys of the person, or of all users. */
export async function readKeys(
  place: Place,
  { whose, status }: KeySearch,
  cursor: unknown,
  signal: AbortSignal,
): Promise<ListPage<ApiKey>> {
  const query = { ...after(cursor), ...(status && { status }) }
  return pageOf(
    whose === 'all'
      ? await createApi(place).get('/settings/tokens', { params: { query }, signal })
      : await createApi(place).get('/auth/tokens', { params: { query: after(cursor) }, signal }),
  )
}

/** Finds a key in the list, because the API has no operation for a single key. */
export const keyQuery = (place: Place, search: KeySearch, id: string) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'key', search.whose ?? 'mine', id],
    queryFn: async ({ signal }) => {
      const path = search.whose === 'all' ? '/settings/tokens' : '/auth/tokens'
      for await (const key of createApi(place).items(path, { params: { query: { limit: 200 } }, signal }))
        if (key.id === id) return key
      return null
    },
    refetchInterval: 15_000,
  })

export async function readSecrets(
  place: Place,
  cursor: unknown,
  signal: AbortSignal,
): Promise<ListPage<Secret>> {
  return pageOf(await createApi(place).get('/secrets', { params: { query: after(cursor) }, signal }))
}

export const secretQuery = (place: Place, name: string) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'secret', name],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/secrets/{name}', { params: { path: { name } }, signal })).data,
    refetchInterval: 15_000,
  })

export const policyQuery = (place: Place) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'policy'],
    queryFn: async ({ signal }) => (await createApi(place).get('/settings/sign-in-policy', { signal })).data,
  })

export const providersQuery = (place: Place) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'providers'],
    queryFn: async ({ signal }) =>
      (
        await createApi(place).get('/settings/identity-providers', {
          params: { query: { limit: 200 } },
          signal,
        })
      ).data,
  })

export async function readNotifications(
  place: Place,
  { unread }: NotificationSearch,
  cursor: unknown,
  signal: AbortSignal,
): Promise<ListPage<Notification>> {
  const query = { ...after(cursor), ...(unread && { unread }) }
  return pageOf(await createApi(place).get('/notifications', { params: { query }, signal }))
}

export const notificationQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...peopleKey(place), 'notification', id],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/notifications/{id}', { params: { path: { id } }, signal })).data,
  })
