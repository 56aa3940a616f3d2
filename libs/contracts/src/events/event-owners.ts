import type { BackendName } from '../core/services.js'
import { parseEventFamily } from './event.js'
import type { EventFamily } from './event-permissions.js'

/** The service whose log contains the events of each family. No family is shared. */
const eventOwners: Readonly<Record<EventFamily, BackendName>> = {
  incident: 'itsm',
  itsm_settings: 'itsm',
  change: 'itsm',
  change_policy: 'itsm',
  change_template: 'itsm',
  change_window: 'itsm',
  problem: 'itsm',
  sla: 'itsm',
  sla_calendar: 'itsm',
  sla_policy: 'itsm',
  ci: 'itsm',
  article: 'itsm',
  catalog_item: 'itsm',
  request: 'itsm',
  account: 'settings',
  workspace: 'settings',
  user: 'settings',
  role: 'settings',
  identity_provider: 'settings',
  identity: 'settings',
  token: 'settings',
  session: 'settings',
  login: 'settings',
  factor: 'settings',
  recovery_codes: 'settings',
  secret: 'settings',
  audit: 'settings',
  dead_letter: 'settings',
  webhook: 'dispatcher',
  connector: 'integrations',
  table: 'database-studio',
  record: 'database-studio',
  query: 'database-studio',
  migration: 'database-studio',
  workflow: 'workflows',
  artifact: 'sdk',
  sdk: 'sdk',
  scheduled_job: 'sdk',
  pack: 'sdk',
  report: 'analytics',
  export: 'analytics',
  kpi: 'analytics',
  dashboard: 'analytics',
  app: 'apps',
  app_page: 'apps',
  data_source: 'apps',
  deploy: 'apps',
  embed_token: 'apps',
}

/**
 * The one service that may publish events of a type. `undefined` for undeclared families: those come from a newer
 * version, are visible only to readers of the audit log, and trigger nothing else.
 */
export function eventOwner(type: string): BackendName | undefined {
  const owners: Readonly<Record<string, BackendName>> = eventOwners
  const family = parseEventFamily(type)
  return Object.hasOwn(owners, family) ? owners[family] : undefined
}

/** Whether a service may publish events of a type. `source`: the service's name in messages, which is its schema. */
export function mayPublish(source: string | undefined, type: string): boolean {
  const owner = eventOwner(type)
  return owner === undefined || owner.replaceAll('-', '_') === source
}
