/** A service of the platform, as used by the gateway and the operator. */
export interface ServiceEntry {
  /** The service's paths below /api/v1, by their first segment, or by their first two, which have precedence. */
  readonly paths: readonly string[]
  /** The service's paths below the origin itself, such as `hooks`: the service serves them under `/origin/hooks`. */
  readonly originPaths?: readonly string[]
  /** Whether the service has its own schema and login role in Postgres. */
  readonly database: boolean
  /** Its schema is in the database of the tenants' data, separate from the schemas of the other services. */
  readonly inDataDatabase?: true
}

const withDatabase = <const Paths extends readonly string[]>(...paths: Paths) =>
  ({ paths, database: true }) as const

/** All services in the order they start. The gateway and local development both use this list. */
export const serviceRegistry = {
  settings: withDatabase(
    ...([
      'auth',
      'workspaces',
      'settings',
      'secrets',
      'audit',
      'notifications',
      'events/stream',
      'resolve',
      'platform',
    ] as const),
  ),
  itsm: withDatabase('itsm', 'cmdb', 'knowledge', 'catalog'),
  dispatcher: withDatabase('webhooks', 'events', 'deliveries'),
  integrations: withDatabase('connectors', 'transformer'),
  'database-studio': { ...withDatabase('tables', 'queries', 'migrations'), inDataDatabase: true },
  workflows: { ...withDatabase('workflows', 'runs'), originPaths: ['hooks'] },
  sdk: { ...withDatabase('sdk'), originPaths: ['api/service-sdk'] },
  analytics: { ...withDatabase('analytics'), originPaths: ['downloads'] },
  apps: { ...withDatabase('apps'), originPaths: ['apps'] },
  gateway: { paths: [], database: false },
} as const satisfies Record<string, ServiceEntry>

/** Prefix the gateway adds to a path below the origin, so that a service can distinguish it from the same API path. */
export const originPrefix = '/origin'

export type ServiceName = keyof typeof serviceRegistry
/** A service with a database. */
export type BackendName = {
  [Name in ServiceName]: (typeof serviceRegistry)[Name]['database'] extends true ? Name : never
}[ServiceName]

export const serviceNames = Object.keys(serviceRegistry) as ServiceName[]
export const backendNames = serviceNames.filter((name): name is BackendName => serviceRegistry[name].database)

/**
 * The durable consumers of each service on the events stream; only the service's NATS user may
 * use them. Events are signed for every service listed here, as it verifies their signatures. A
 * consumer that is missing here does not start.
 */
export const durableConsumers: Partial<Record<ServiceName, readonly string[]>> = {
  settings: [
    'settings-audit-log',
    'settings-deploy-notifications',
    'settings-kpi-notifications',
    'settings-pack-notifications',
    'settings-scheduled_job-notifications',
    'settings-webhook-notifications',
    'settings-workflow-notifications',
  ],
  itsm: [
    'itsm-change-conflicts',
    'itsm-change-late-waits',
    'itsm-change-resume',
    'itsm-change-timers',
    'itsm-incident-families',
    'itsm-incident-timers',
    'itsm-item-conflicts',
    'itsm-major-proposals',
    'itsm-problem-cascade',
    'itsm-problem-changes',
    'itsm-problem-late-waits',
    'itsm-problem-timers',
    'itsm-request-timers',
    'itsm-sla-escalations',
    'itsm-window-conflicts',
  ],
  dispatcher: [
    'dispatcher-delivery-fanout',
    'dispatcher-role-rights',
    'dispatcher-row-rules',
    'dispatcher-user-rights',
  ],
  workflows: [
    'workflows-key-rights',
    'workflows-role-rights',
    'workflows-row-rules',
    'workflows-schedules',
    'workflows-triggers',
    'workflows-user-rights',
  ],
  sdk: [
    'sdk-key-rights',
    'sdk-role-rights',
    'sdk-row-rules',
    'sdk-rules',
    'sdk-schedules',
    'sdk-user-rights',
    'sdk-validations',
  ],
  apps: ['apps-key-rights', 'apps-role-rights', 'apps-user-rights'],
  analytics: ['analytics-export-links', 'analytics-facts', 'analytics-kpi-schedules'],
}

/** The durable consumers of each service on the topics stream. */
export const topicConsumers: Partial<Record<ServiceName, readonly string[]>> = {
  workflows: ['workflows-bus'],
}

/** The services that publish signals for changes without events, and the service that receives them. */
export const changeSignals: {
  readonly publishers: readonly ServiceName[]
  readonly followers: readonly ServiceName[]
} = {
  publishers: ['dispatcher', 'workflows', 'sdk'],
  followers: ['settings'],
}

/** The operator's command line: calls services and has no routes itself. */
export const operator = 'operator'
/** Resources whose events change the rights of a token. The gateway subscribes to them. */
export const rightsEventTypes = ['token', 'session', 'user', 'membership', 'role', 'workspace'] as const
/** Signers of internal tokens: every service, and the operator. */
export const internalParties = [...serviceNames, operator] as const
export type InternalParty = (typeof internalParties)[number]

/** The services that act in a person's name after the request has ended, always by grants (ADR 050). */
export const actsForUsers: readonly InternalParty[] = [
  'integrations',
  'workflows',
  'sdk',
  'analytics',
  'apps',
]
