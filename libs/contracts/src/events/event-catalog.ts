import { analyticsEvents } from '../analytics/analytics.js'
import { exportEvents } from '../analytics/analytics-exports.js'
import { kpiEvents } from '../analytics/analytics-kpis.js'
import { appsEvents } from '../apps/apps.js'
import { dispatcherEvents } from '../dispatcher/dispatcher.js'
import { connectorEvents } from '../integrations/connectors.js'
import { changePolicyEvents } from '../itsm/change-policies.js'
import { changeTemplateEvents } from '../itsm/change-templates.js'
import { changeWindowEvents } from '../itsm/change-windows.js'
import { changeEvents } from '../itsm/changes.js'
import { cmdbEvents } from '../itsm/cmdb.js'
import { itsmEvents } from '../itsm/itsm.js'
import { itsmSettingsEvents } from '../itsm/itsm-settings.js'
import { knowledgeEvents } from '../itsm/knowledge.js'
import { problemEvents } from '../itsm/problems.js'
import { serviceCatalogEvents } from '../itsm/service-catalog.js'
import { slaEvents } from '../itsm/sla.js'
import { sdkEvents } from '../sdk/sdk.js'
import { operatorEvents } from '../settings/operator-events.js'
import { providerEvents } from '../settings/providers.js'
import { sessionEvents } from '../settings/sessions.js'
import { settingsEvents } from '../settings/settings-events.js'
import { studioSqlEvents } from '../studio/studio-sql.js'
import { studioTableEvents } from '../studio/studio-tables.js'
import { workflowEvents } from '../workflows/workflows.js'
import type { EventDefinition } from './catalog.js'

/** Event types with their descriptions and schemas. */
export type EventCatalog = Readonly<Record<string, EventDefinition>>

/** Every event of the platform. No two services declare the same type. */
export const eventCatalog = {
  ...itsmEvents,
  ...itsmSettingsEvents,
  ...cmdbEvents,
  ...changeEvents,
  ...changePolicyEvents,
  ...changeTemplateEvents,
  ...slaEvents,
  ...changeWindowEvents,
  ...knowledgeEvents,
  ...problemEvents,
  ...serviceCatalogEvents,
  ...settingsEvents,
  ...sessionEvents,
  ...providerEvents,
  ...operatorEvents,
  ...dispatcherEvents,
  ...connectorEvents,
  ...studioSqlEvents,
  ...studioTableEvents,
  ...workflowEvents,
  ...appsEvents,
  ...analyticsEvents,
  ...exportEvents,
  ...kpiEvents,
  ...sdkEvents,
} satisfies EventCatalog
export type EventType = keyof typeof eventCatalog
