import type { Dashboard, Page } from '@opsplane/contracts'
import type { CursorCodec } from '@opsplane/runtime'
import { z } from 'zod'
import { builtInDashboards } from './built-in.js'

export interface DashboardPageOptions {
  limit: number
  after: string | undefined
  binding: string
  cursors: CursorCodec
  /** `true`: built-in dashboards only; `false`: all others only; `undefined`: both. */
  builtIn: boolean | undefined
  /** A page of the dashboards created in the environment. */
  ownPage(page: { limit: number; after: string | undefined }): Promise<Page<Dashboard>>
}

/** Number of built-in dashboards already returned. Cursors of the other dashboards have a different shape. */
const BuiltInCursor = z.tuple([z.int().min(0)])

/** Returns the built-in dashboards in declaration order, followed by the others. */
export async function readDashboardPage(options: DashboardPageOptions): Promise<Page<Dashboard>> {
  const { limit, after, binding, cursors, builtIn, ownPage } = options
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
