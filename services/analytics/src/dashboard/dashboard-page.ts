import type { Dashboard, Page } from '@opsplane/contracts'
import type { CursorCodec } from '@opsplane/runtime'
import { z } from 'zod'
import { builtInDashboards } from './built-in.js'

export interface DashboardPageOptions {
  limit: number
  after: string | undefined
  binding: string
  cursors: CursorCodec
  /** Only those that are, or only those that are not; both without. */
  builtIn: boolean | undefined
  /** A page of those that were made here. */
  ownPage(asked: { limit: number; after: string | undefined }): Promise<Page<Dashboard>>
}

/** How many of the built-in ones came before; cursors of the others are of another shape. */
const BuiltInCursor = z.tuple([z.int().min(0)])

/** The built-in dashboards in the order they are declared, and then the others. */
export async function readDashboardPage(asked: DashboardPageOptions): Promise<Page<Dashboard>> {
  const { limit, after, binding, cursors, builtIn, ownPage } = asked
  const place = after === undefined ? 0 : BuiltInCursor.safeParse(cursors.decode(after, binding)).data?.[0]
  if (builtIn === false || place === undefined) return ownPage({ limit, after })
  const first = builtInDashboards.slice(place, place + limit)
  const next = cursors.encode([place + first.length], binding)
  if (place + first.length < builtInDashboards.length) return { items: first, nextCursor: next, limit }
  if (builtIn) return { items: first, nextCursor: null, limit }
  const room = limit - first.length
  const own = await ownPage({ limit: Math.max(room, 1), after: undefined })
  if (room > 0) return { ...own, items: [...first, ...own.items], limit }
  return { items: first, nextCursor: own.items.length > 0 ? next : null, limit }
}
