import type { ServiceContext, ServiceParts } from '@opsplane/service'
import { changeWindow } from './domain.js'
import { windowRoutes } from './routes.js'
import { windowStore } from './window-store.js'

export const changeWindowDeciders = [changeWindow]

/** Service parts for change windows: blackouts, in which changes are unwanted, and maintenance windows. */
export function createChangeWindows(ctx: ServiceContext): ServiceParts {
  return { routes: windowRoutes(ctx, windowStore(ctx)) }
}
