import { z } from 'zod'
import { type IdKind, idPrefixes } from '../core/ids.js'

/** Describes the resources of one kind of id. */
export interface ReadableKind {
  /** `resource.type` of its events, except for runs and executions. */
  type: string
  /**
   * Path of the route that reads one, below /api/v1. `{id}` is its id; any other placeholder is a field of its last
   * event. `null` if there is no such route: the resource is then found by its events.
   */
  path: string | null
  /** Belongs to all environments; its events are in production. */
  ofWorkspace?: true
}

/** Every kind of id and where its resource can be read; `null` if it cannot be read by itself. */
export const readableKinds: Readonly<Record<IdKind, ReadableKind | null>> = {
  event: { type: 'event', path: '/audit/{id}' },
  request: { type: 'request', path: '/audit?requestId={id}' },
  workspace: { type: 'workspace', path: '/workspaces/me', ofWorkspace: true },
  user: { type: 'user', path: '/settings/users/{id}', ofWorkspace: true },
  role: { type: 'role', path: '/settings/roles/{name}', ofWorkspace: true },
  session: { type: 'session', path: null, ofWorkspace: true },
  factor: { type: 'factor', path: null, ofWorkspace: true },
  token: { type: 'token', path: null, ofWorkspace: true },
  identityProvider: {
    type: 'identity_provider',
    path: '/settings/identity-providers/{id}',
    ofWorkspace: true,
  },
  identity: { type: 'identity', path: null, ofWorkspace: true },
  secret: { type: 'secret', path: '/secrets/{name}' },
  auditExport: { type: 'audit', path: null },
  incident: { type: 'incident', path: '/itsm/incidents/{id}' },
  ci: { type: 'ci', path: '/cmdb/items/{id}' },
  relation: { type: 'ci_relation', path: '/cmdb/relations/{id}' },
  ciClass: { type: 'ci_class', path: '/cmdb/classes/{name}' },
  slaCalendar: { type: 'sla_calendar', path: '/itsm/calendars/{id}' },
  slaPolicy: { type: 'sla_policy', path: '/itsm/sla-policies/{id}' },
  slaTimer: { type: 'sla', path: '/itsm/sla-timers/{id}' },
  article: { type: 'article', path: '/knowledge/{id}' },
  itsmSettings: { type: 'itsm_settings', path: '/itsm/settings' },
  change: { type: 'change', path: '/itsm/changes/{id}' },
  changePolicy: { type: 'change_policy', path: '/itsm/change-policies/{id}' },
  changeTemplate: { type: 'change_template', path: '/itsm/change-templates/{id}' },
  changeWindow: { type: 'change_window', path: '/itsm/change-windows/{id}' },
  problem: { type: 'problem', path: '/itsm/problems/{id}' },
  catalogItem: { type: 'catalog_item', path: '/catalog/items/{id}' },
  catalogRequest: { type: 'catalog_request', path: '/catalog/requests/{id}' },
  webhook: { type: 'webhook', path: '/webhooks/{id}' },
  delivery: { type: 'delivery', path: '/deliveries/{id}' },
  connector: { type: 'connector', path: '/connectors/{id}' },
  table: { type: 'table', path: '/tables/{slug}' },
  record: { type: 'record', path: '/tables/{tableSlug}/records/{id}' },
  query: { type: 'query', path: '/queries/{id}' },
  migration: { type: 'migration', path: '/migrations/{id}' },
  workflow: { type: 'workflow', path: '/workflows/{id}' },
  run: { type: 'run', path: '/runs/{id}' },
  runRetry: { type: 'run_retry', path: '/runs/retries/{id}' },
  executionRetry: { type: 'execution_retry', path: '/api/service-sdk/executions/retries/{id}' },
  artifact: { type: 'artifact', path: '/sdk/artifacts/{id}' },
  pack: { type: 'pack', path: '/sdk/packs/{id}' },
  job: { type: 'scheduled_job', path: '/sdk/scheduled-jobs/{id}' },
  execution: { type: 'execution', path: '/api/service-sdk/executions/{id}' },
  report: { type: 'report', path: '/analytics/reports/{id}' },
  dashboard: { type: 'dashboard', path: '/analytics/dashboards/{id}' },
  kpi: { type: 'kpi', path: '/analytics/kpis/{id}' },
  export: { type: 'export', path: '/analytics/exports/{id}' },
  app: { type: 'app', path: '/apps/{id}' },
  page: { type: 'app_page', path: '/apps/{appId}/pages/{id}' },
  dataSource: { type: 'data_source', path: '/apps/{appId}/data-sources/{id}' },
  deployment: { type: 'deployment', path: '/apps/{appId}/deployments/{id}' },
  embedToken: { type: 'embed_token', path: '/apps/{appId}/embed-tokens/{id}' },
  // Parts that are shown with their parent, or below a parent that no event names.
  ...{ membership: null, comment: null, slaBreach: null, approval: null, catalogTask: null, attempt: null },
  ...{ replay: null, resend: null, space: null, import: null, invocation: null, schedule: null },
  // Visible only to their holder, or not at all.
  ...{ invitation: null, accountToken: null, signInChallenge: null, notification: null, hook: null },
  ...{ grant: null, exportLink: null },
}

/** Prefixes of service desk numbers. */
const numberPrefixes = {
  INC: 'incident',
  PRB: 'problem',
  CHG: 'change',
  REQ: 'catalogRequest',
  KB: 'article',
} as const satisfies Record<string, IdKind>

const kindsByPrefix = new Map<string, IdKind>([
  ...Object.entries(idPrefixes).map(([kind, prefix]): [string, IdKind] => [`${prefix}_`, kind as IdKind]),
  ...Object.entries(numberPrefixes).map(([prefix, kind]): [string, IdKind] => [`${prefix}-`, kind]),
])

/** The kind of an id or of a number such as `INC-12`; `undefined` for anything else. */
export function kindOfReference(reference: string): IdKind | undefined {
  const [begin] = /^[A-Za-z]+[_-]/.exec(reference) ?? []
  return begin === undefined ? undefined : kindsByPrefix.get(begin)
}

/** Response of `GET /resolve/:id`. */
export const ResolvedReference = z
  .object({
    type: z.string().meta({
      description:
        'Type of the resource: a `resource.type` of events, or `event`, `request`, `delivery`, `run` or `execution`.',
    }),
    id: z.string().meta({ description: 'Id of the resource, also if the request contains its number.' }),
    title: z.string().nullable().meta({ description: 'Display name of the resource.' }),
    href: z
      .string()
      .nullable()
      .meta({
        description:
          'Path of the resource below /api/v1, or from the origin if it begins with `/api/`. `null` if the resource ' +
          'has no route of its own or is deleted.',
      }),
    eventsHref: z
      .string()
      .nullable()
      .meta({
        description:
          'Path of the events of the resource in the audit log. `null` if there are none or the caller may not read ' +
          'the audit log.',
      }),
  })
  .meta({
    id: 'ResolvedReference',
    example: {
      type: 'incident',
      id: 'inc_01KAM7Z4Q6V3N8W2X5Y9B1C0DE',
      title: 'Checkout answers 502',
      href: '/itsm/incidents/inc_01KAM7Z4Q6V3N8W2X5Y9B1C0DE',
      eventsHref: '/audit?resourceId=inc_01KAM7Z4Q6V3N8W2X5Y9B1C0DE',
    },
  })
export type ResolvedReference = z.infer<typeof ResolvedReference>
