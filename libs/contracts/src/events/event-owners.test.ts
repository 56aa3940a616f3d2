import { expect, it } from '@jest/globals'
import { analyticsEvents } from '../analytics/analytics.js'
import { exportEvents } from '../analytics/analytics-exports.js'
import { kpiEvents } from '../analytics/analytics-kpis.js'
import { appsEvents } from '../apps/apps.js'
import { dispatcherEvents } from '../dispatcher/dispatcher.js'
import { connectorEvents } from '../integrations/connectors.js'
import { sdkEvents } from '../sdk/sdk.js'
import { operatorEvents } from '../settings/operator-events.js'
import { providerEvents } from '../settings/providers.js'
import { sessionEvents } from '../settings/sessions.js'
import { settingsEvents } from '../settings/settings-events.js'
import { studioSqlEvents } from '../studio/studio-sql.js'
import { studioTableEvents } from '../studio/studio-tables.js'
import { workflowEvents } from '../workflows/workflows.js'
import { eventTypes } from './event-json-schema.js'
import { eventOwner, mayPublish } from './event-owners.js'

const owned = {
  settings: { ...settingsEvents, ...sessionEvents, ...providerEvents, ...operatorEvents },
  dispatcher: dispatcherEvents,
  integrations: connectorEvents,
  'database-studio': { ...studioSqlEvents, ...studioTableEvents },
  workflows: workflowEvents,
  apps: appsEvents,
  analytics: { ...analyticsEvents, ...exportEvents, ...kpiEvents },
  sdk: sdkEvents,
}
const ownedTypes = Object.entries(owned).flatMap(([service, events]) =>
  Object.keys(events).map((type) => [type, service] as const),
)

it('every type in the catalogue belongs to the service that declares it, and otherwise to the service desk', () => {
  const owners = new Map<string, string>(ownedTypes)
  for (const type of eventTypes) expect([type, eventOwner(type)]).toEqual([type, owners.get(type) ?? 'itsm'])
})

it('a service may not publish events that belong to another service', () => {
  for (const [type, service] of ownedTypes) {
    expect(mayPublish(service.replaceAll('-', '_'), type)).toBe(true)
    expect([type, mayPublish('itsm', type), mayPublish(undefined, type)]).toEqual([type, false, false])
  }
})

it('every service may publish events of an undeclared family', () => {
  for (const type of ['unheard_of.created', 'constructor.name', '__proto__.x'])
    expect([eventOwner(type), mayPublish('apps', type)]).toEqual([undefined, true])
})
