import { type Permission, permissions } from '../core/permissions.js'
import { parseEventFamily } from './event.js'
import type { EventType } from './event-catalog.js'

type Family<Type> = Type extends `${infer First}.${string}` ? First : never
export type EventFamily = Family<EventType>

/** Permission required to read all events of a family: the one required to read all its resources. */
const eventFamilyPermissions: Readonly<Record<EventFamily, Permission>> = {
  incident: 'itsm:read',
  itsm_settings: 'itsm:read',
  change: 'itsm:read',
  change_policy: 'itsm:read',
  change_template: 'itsm:read',
  change_window: 'itsm:read',
  problem: 'itsm:read',
  sla: 'itsm:read',
  sla_calendar: 'itsm:read',
  sla_policy: 'itsm:read',
  ci: 'cmdb:read',
  // The read permissions show only published articles, or a requester's own requests; the events contain all of them.
  article: 'knowledge:write',
  catalog_item: 'catalog:write',
  request: 'catalog:write',
  account: 'audit:read',
  workspace: 'workspace:read',
  user: 'users:read',
  role: 'roles:read',
  identity_provider: 'credentials:manage',
  identity: 'credentials:manage',
  token: 'credentials:manage',
  session: 'credentials:manage',
  login: 'credentials:manage',
  factor: 'credentials:manage',
  recovery_codes: 'credentials:manage',
  secret: 'secrets:read',
  audit: 'audit:read',
  dead_letter: 'audit:read',
  webhook: 'webhooks:read',
  connector: 'connectors:read',
  table: 'tables:read',
  // Row rules only apply to reads of records; the events contain all rows.
  record: 'tables:write',
  query: 'queries:read',
  migration: 'migrations:read',
  workflow: 'workflows:read',
  artifact: 'sdk:read',
  // The log contains inputs and results of artifacts.
  sdk: 'executions:read',
  scheduled_job: 'sdk:read',
  pack: 'sdk:read',
  report: 'analytics:read',
  export: 'analytics:read',
  kpi: 'analytics:read',
  dashboard: 'analytics:read',
  app: 'apps:read',
  app_page: 'apps:read',
  data_source: 'apps:read',
  deploy: 'apps:read',
  embed_token: 'apps:read',
}

/** Grants access to every event, as the audit log contains all of them. */
export const everyEventPermission: Permission = 'audit:read'

/**
 * Permission required to read the events that match a subscription entry. Undeclared families, `*` and `audit.*`
 * require the permission to read the audit log.
 */
export function eventPermission(pattern: string): Permission {
  if (pattern === '*' || pattern === 'audit.*') return everyEventPermission
  const families: Readonly<Record<string, Permission>> = eventFamilyPermissions
  const family = parseEventFamily(pattern)
  return (Object.hasOwn(families, family) ? families[family] : undefined) ?? everyEventPermission
}

/** The rights needed to act for a person: those to read events, and the other permissions. */
export interface NeededRights {
  reads: readonly Permission[]
  uses: readonly Permission[]
}

/**
 * The needed permissions a person lacks, in the order of the table. Permission to read the audit
 * log covers every event. With `hidden`, row rules hide records in these events from the person:
 * `records:read` then always counts as missing.
 */
export function missingRights(
  ownedPermissions: readonly string[],
  { reads, uses }: NeededRights,
  hidden = false,
): Permission[] {
  const lacked = ownedPermissions.includes(everyEventPermission) ? uses : [...reads, ...uses]
  return permissions.filter((each) =>
    each === 'records:read' && hidden ? true : lacked.includes(each) && !ownedPermissions.includes(each),
  )
}
