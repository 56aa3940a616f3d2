import { consumeEvents } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { incidentStore } from '../incident/incident-store.js'
import { problemActionRoutes } from './action-routes.js'
import { createCascade } from './cascade.js'
import { tellChangesEnded } from './changes-ended.js'
import { problemIncidentRoutes } from './incident-routes.js'
import { problemLinks } from './links.js'
import { problemStore } from './problem-store.js'
import { reachingEvents } from './reaction.js'
import { problemRoutes } from './routes.js'

/** Everything below /itsm/problems. */
export function allProblemRoutes(ctx: ServiceContext): Route[] {
  const incidents = incidentStore(ctx)
  const problems = problemStore(ctx)
  const links = problemLinks(ctx, incidents, problems)
  return [
    ...problemRoutes(ctx, problems),
    ...problemActionRoutes(problems),
    ...problemIncidentRoutes(ctx, incidents, problems, links),
  ]
}

/** Brings what becomes of a problem to its incidents. */
export function problemConsumers(ctx: ServiceContext): BackgroundWork[] {
  const cascade = createCascade(ctx, incidentStore(ctx), problemStore(ctx))
  return [
    tellChangesEnded(ctx),
    consumeEvents({
      database: ctx.database,
      link: ctx.link,
      names: ctx.names,
      log: ctx.log,
      durable: 'itsm-problem-cascade',
      filterSubjects: ctx.names.eventFilters(reachingEvents),
      // One event may reach thousands of incidents.
      maxBatch: 1,
      ackWaitMs: 120_000,
      perform: async (events) => {
        for (const event of events) await cascade.heed(event)
      },
    }),
    consumeEvents({
      database: ctx.database,
      link: ctx.link,
      names: ctx.names,
      log: ctx.log,
      durable: 'itsm-problem-late-waits',
      filterSubjects: ctx.names.eventFilters(['incident.updated']),
      perform: async (events) => {
        for (const event of events) await cascade.heedWait(event)
      },
    }),
  ]
}
