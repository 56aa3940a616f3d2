import type { BackendContext } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import { changeStore } from './change-store.js'
import { change } from './domain.js'
import { changeRoutes } from './routes.js'

export const changeDeciders = [change]

export function changeManagementRoutes(ctx: BackendContext): Route[] {
  return changeRoutes(ctx, changeStore(ctx))
}
