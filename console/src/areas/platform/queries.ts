import { queryOptions } from '@tanstack/react-query'
import { createApi, type DeadLetter } from '../../api/api.js'
import { type ListPage, pageSize } from '../../api/queries.js'

/** Key of data that belongs to the installation, not to a workspace. */
export const platformKey = ['platform'] as const

export const statusQuery = queryOptions({
  queryKey: [...platformKey, 'status'],
  queryFn: async ({ signal }) => (await createApi().get('/platform/status', { signal })).data,
  refetchInterval: 5_000,
})

export interface LetterSearch {
  service?: DeadLetter['service']
}

const services = [
  ...['settings', 'itsm', 'dispatcher', 'integrations', 'database-studio', 'workflows', 'sdk'],
  ...['analytics', 'apps'],
] as DeadLetter['service'][]
export const backendNames: readonly DeadLetter['service'][] = services

export function letterSearch({ service }: Readonly<Record<string, unknown>>): LetterSearch {
  const known = services.find((each) => each === service)
  return known === undefined ? {} : { service: known }
}

export async function readDeadLetters(
  { service }: LetterSearch,
  cursor: unknown,
  signal: AbortSignal,
): Promise<ListPage<DeadLetter>> {
  const query = {
    limit: pageSize,
    ...(service && { service }),
    ...(typeof cursor === 'string' && { after: cursor }),
  }
  const { data, pagination } = await createApi().get('/platform/dead-letters', { params: { query }, signal })
  return { items: data, next: pagination.hasMore ? (pagination.nextCursor ?? undefined) : undefined }
}

/**
 * Finds a dead letter in the list, because the API has no operation for a single one; `null` once it is handled or
 * dropped.
 */
export const letterQuery = (id: string) =>
  queryOptions({
    queryKey: [...platformKey, 'letter', id],
    queryFn: async ({ signal }) => {
      const service = id.split(':', 1)[0] as DeadLetter['service']
      const letters = createApi().items('/platform/dead-letters', {
        params: { query: { limit: 200, service } },
        signal,
      })
      for await (const letter of letters) if (letter.id === id) return letter
      return null
    },
    refetchInterval: 5_000,
  })
