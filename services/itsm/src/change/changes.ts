import type { ServiceContext, ServiceParts } from '@opsplane/service'
import { changeActionRoutes } from './action-routes.js'
import type { ChangeStore } from './change-store.js'
import { change } from './domain.js'
import { planningRoutes } from './planning/planning-routes.js'
import { recheckConflicts } from './planning/recheck.js'
import { changePolicy } from './policy/policy.js'
import { changePolicyRoutes } from './policy/policy-routes.js'
import { resumeIncidents } from './resume-incidents.js'
import { changeRoutes } from './routes.js'
import { changeTemplate } from './template/template.js'
import { changeTemplateRoutes } from './template/template-routes.js'

export const changeDeciders = [change, changePolicy, changeTemplate]

/** Service parts for changes: policies, templates, conflicts, and resuming the incidents that wait for a change. */
export function createChanges(ctx: ServiceContext, changes: ChangeStore): ServiceParts {
  return {
    routes: [
      ...changeRoutes(ctx, changes),
      ...changeActionRoutes(changes),
      ...changePolicyRoutes(ctx),
      ...changeTemplateRoutes(ctx),
      ...planningRoutes(ctx, changes),
    ],
    background: [...resumeIncidents(ctx), ...recheckConflicts(ctx)],
  }
}
