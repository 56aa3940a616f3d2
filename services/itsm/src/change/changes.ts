import type { Route } from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { changeActionRoutes } from './action-routes.js'
import { changeStore } from './change-store.js'
import { change } from './domain.js'
import { changePolicy } from './policy.js'
import { changePolicyRoutes } from './policy-routes.js'
import { resumeIncidents } from './resume-incidents.js'
import { changeRoutes } from './routes.js'
import { changeTemplate } from './template.js'
import { changeTemplateRoutes } from './template-routes.js'

export const changeDeciders = [change, changePolicy, changeTemplate]

export function changeManagementRoutes(ctx: ServiceContext): Route[] {
  const changes = changeStore(ctx)
  return [
    ...changeRoutes(ctx, changes),
    ...changeActionRoutes(changes),
    ...changePolicyRoutes(ctx),
    ...changeTemplateRoutes(ctx),
  ]
}

export function changeConsumers(ctx: ServiceContext): BackgroundWork[] {
  return [resumeIncidents(ctx)]
}
