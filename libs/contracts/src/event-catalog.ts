import { analyticsEvents } from './analytics.js'
import { exportEvents } from './analytics-exports.js'
import { kpiEvents } from './analytics-kpis.js'
import { appsEvents } from './apps.js'
import type { EventDefinition } from './catalog.js'
import { changePolicyEvents } from './change-policies.js'
import { changeTemplateEvents } from './change-templates.js'
import { changeWindowEvents } from './change-windows.js'
import { changeEvents } from './changes.js'
import { cmdbEvents } from './cmdb.js'
import { connectorEvents } from './connectors.js'
import { dispatcherEvents } from './dispatcher.js'
import { itsmEvents } from './itsm.js'
import { itsmSettingsEvents } from './itsm-settings.js'
import { knowledgeEvents } from './knowledge.js'
import { problemEvents } from './problems.js'
import { sdkEvents } from './sdk.js'
import { serviceCatalogEvents } from './service-catalog.js'
import { sessionEvents } from './sessions.js'
import { settingsEvents } from './settings-events.js'
import { slaEvents } from './sla.js'
import { studioSqlEvents } from './studio-sql.js'
import { studioTableEvents } from './studio-tables.js'
import { workflowEvents } from './workflows.js'

/** Event types with what each means and carries. */
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
