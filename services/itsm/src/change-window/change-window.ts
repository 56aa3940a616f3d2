import type { ServiceContext, ServiceParts } from '@opsplane/service'
import type { ChangeStore } from '../change/change-store.js'
import { changeWindow } from './domain.js'
import { planningRoutes } from './planning-routes.js'
import { recheckConflicts } from './recheck.js'
import { windowRoutes } from './routes.js'
import { windowStore } from './window-store.js'

export const changeWindowDeciders = [changeWindow]

/** Windows for changes, the plan of both, and their conflicts as they come and go. */
export function createChangeWindows(ctx: ServiceContext, changes: ChangeStore): ServiceParts {
  return {
    routes: [...windowRoutes(ctx, windowStore(ctx)), ...planningRoutes(ctx, changes)],
    background: recheckConflicts(ctx),
  }
}
