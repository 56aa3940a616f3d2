import type { ApiClient } from '@opsplane/testing'
import { z } from 'zod'

const Listed = z.object({ id: z.string() })

/** The ids of a list, read to its end by its cursors, one by one. */
export async function listAllIds(api: ApiClient, path: string, query = ''): Promise<string[]> {
  const ids: string[] = []
  for (let after = ''; ; ) {
    const { items, pagination } = (await api.get(`${path}?${query}&limit=1${after}`)).page(Listed)
    ids.push(...items.map(({ id }) => id))
    if (pagination.nextCursor === null) return ids
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}
