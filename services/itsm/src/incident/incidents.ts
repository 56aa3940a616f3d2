import type { ServiceContext, ServiceParts } from '@opsplane/service'
import type { SettingsStore } from '../settings/settings-store.js'
import { incidentActionRoutes } from './action-routes.js'
import { incidentCommentRoutes } from './comment/comment-routes.js'
import { incidentConsumers } from './consumers.js'
import type { IncidentStore } from './incident-store.js'
import { majorIncidentRoutes } from './major/major-routes.js'
import { incidentRoutes } from './routes.js'
import { incidentWatchRoutes } from './watch-routes.js'

/** Service parts for incidents and the reactions to their events. */
export function createIncidents(
  ctx: ServiceContext,
  incidents: IncidentStore,
  settings: SettingsStore,
): ServiceParts {
  return {
    routes: [
      ...incidentRoutes(ctx, incidents),
      ...incidentActionRoutes(incidents),
      ...incidentCommentRoutes(ctx, incidents),
      ...majorIncidentRoutes(incidents),
      ...incidentWatchRoutes(incidents),
    ],
    background: incidentConsumers(ctx, incidents, settings),
  }
}
