import type { ServiceContext, ServiceParts } from '@opsplane/service'
import { changeWindow } from './domain.js'
import { windowRoutes } from './routes.js'
import { windowStore } from './window-store.js'

export const changeWindowDeciders = [changeWindow]

/** Windows for changes: when they are wanted, and when they are not. */
export function createChangeWindows(ctx: ServiceContext): ServiceParts {
  return { routes: windowRoutes(ctx, windowStore(ctx)) }
}
