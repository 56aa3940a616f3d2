import type { BackgroundWork, ServiceContext, ServiceParts } from '@opsplane/service'
import type { IncidentStore } from '../incident/incident-store.js'
import { slaEntities } from './entity/entities.js'
import { incidentBreach } from './escalation/breach.js'
import { createEscalationConsumer, thresholdEvents } from './escalation/escalation-consumer.js'
import { calendarRoutes } from './policy/calendar-routes.js'
import { explainRoutes } from './policy/explain-routes.js'
import { slaCalendar, slaPolicy } from './policy/policy.js'
import { policyRoutes } from './policy/policy-routes.js'
import { policyUseRoutes } from './policy/policy-use-routes.js'
import { createSlaPolicyWriter } from './policy/policy-writer.js'
import { type Clocks, clockWorkerName, createClocks } from './timer/clocks.js'
import { slaStores } from './timer/stores.js'
import { slaTimer } from './timer/timer.js'
import { timerRoutes } from './timer/timer-routes.js'

export const slaDeciders = [slaCalendar, slaPolicy, slaTimer, incidentBreach]
export const slaProjectedTables = ['sla_policy_revisions', 'sla_calendar_revisions']

/** Service parts for SLA clocks, which measure the goals of policies in the open hours of calendars. */
export function createSla(ctx: ServiceContext, incidents: IncidentStore): ServiceParts {
  const clocks = createClocks({ ...ctx, wake: (inMs) => ctx.dueWork.wake(clockWorkerName, inMs) })
  const stores = slaStores(ctx.store)
  const saving = createSlaPolicyWriter(ctx, stores, incidents.people)
  return {
    routes: [
      ...calendarRoutes(ctx, stores, saving),
      ...policyRoutes(ctx, stores, saving),
      ...policyUseRoutes(ctx, stores, clocks),
      ...timerRoutes(ctx, clocks),
      ...explainRoutes(ctx, incidents, clocks),
    ],
    background: slaConsumers(ctx, clocks, incidents),
  }
}

/** An event only selects the entity. Its events are read from the log, in order. */
function slaConsumers(ctx: ServiceContext, clocks: Clocks, incidents: IncidentStore): BackgroundWork[] {
  const escalating = createEscalationConsumer(ctx, clocks.pinnedPolicies, incidents.getSettings)
  ctx.dueWork.start(clocks.worker)
  return [
    ...slaEntities.map(({ durable, eventTypes }) =>
      ctx.consume({
        durable,
        spacingMs: 200,
        types: eventTypes,
        perform: (events) => clocks.apply(events.map(({ resource }) => resource.id)),
      }),
    ),
    ctx.consume({
      durable: 'itsm-sla-escalations',
      types: thresholdEvents,
      perform: (events) => escalating.handle(events),
    }),
  ]
}
