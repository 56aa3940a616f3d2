import type { BackendContext } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import { changeWindow } from './domain.js'
import { windowRoutes } from './routes.js'
import { windowStore } from './window-store.js'

export const changeWindowDeciders = [changeWindow]

export function changeWindowRoutes(ctx: BackendContext): Route[] {
  return windowRoutes(ctx, windowStore(ctx))
}
