import type { ApiClient } from '@opsplane/testing'
import { z } from 'zod'

const Listed = z.object({ id: z.string() })

/** Reads the ids of a whole list page by page, following its cursors. */
export async function listAllIds(api: ApiClient, path: string, query = ''): Promise<string[]> {
  const ids: string[] = []
  for (let after = ''; ; ) {
    const { items, pagination } = (await api.get(`${path}?${query}&limit=1${after}`)).page(Listed)
    ids.push(...items.map(({ id }) => id))
    if (pagination.nextCursor === null) return ids
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}
