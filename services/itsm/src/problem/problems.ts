import type { BackgroundWork, ServiceContext, ServiceParts } from '@opsplane/service'
import type { IncidentStore } from '../incident/incident-store.js'
import type { SettingsStore } from '../settings/settings-store.js'
import { problemActionRoutes } from './action-routes.js'
import { createCascade } from './cascade.js'
import { reportChangesEnded } from './changes-ended.js'
import { problemIncidentRoutes } from './incident-routes.js'
import { problemLinks } from './links.js'
import { problemStore } from './problem-store.js'
import { reachingEvents } from './reaction.js'
import { problemRoutes } from './routes.js'

/** Service parts for problems, and for applying their events to linked incidents. */
export function createProblems(
  ctx: ServiceContext,
  incidents: IncidentStore,
  settings: SettingsStore,
): ServiceParts {
  const problems = problemStore(ctx, { settings, people: incidents.people })
  const links = problemLinks(ctx, incidents, problems)
  return {
    routes: [
      ...problemRoutes(ctx, problems),
      ...problemActionRoutes(problems),
      ...problemIncidentRoutes(ctx, incidents, problems, links),
    ],
    background: problemConsumers(ctx, createCascade(ctx, incidents, problems)),
  }
}

function problemConsumers(ctx: ServiceContext, cascade: ReturnType<typeof createCascade>): BackgroundWork[] {
  return [
    reportChangesEnded(ctx),
    ctx.consume({
      durable: 'itsm-problem-cascade',
      types: reachingEvents,
      // One event may change thousands of incidents.
      maxBatch: 1,
      perform: async (events) => {
        for (const event of events) await cascade.apply(event)
      },
    }),
    ctx.consume({
      durable: 'itsm-problem-late-waits',
      types: ['incident.updated'],
      perform: async (events) => {
        for (const event of events) await cascade.applyWait(event)
      },
    }),
  ]
}
