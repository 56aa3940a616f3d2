import type { Route } from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { changeStore } from '../change/change-store.js'
import { changeWindow } from './domain.js'
import { planningRoutes } from './planning-routes.js'
import { recheckConflicts } from './recheck.js'
import { windowRoutes } from './routes.js'
import { windowStore } from './window-store.js'

export const changeWindowDeciders = [changeWindow]

export function changeWindowRoutes(ctx: ServiceContext): Route[] {
  return [...windowRoutes(ctx, windowStore(ctx)), ...planningRoutes(ctx, changeStore(ctx))]
}

export const changeWindowConsumers = (ctx: ServiceContext): BackgroundWork[] => recheckConflicts(ctx)
