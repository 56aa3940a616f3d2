/** A service of the platform, as the gateway and the operator see it. */
export interface ServiceEntry {
  /** The paths below /api/v1 that are its own, by their first segment or, before that, their first two. */
  readonly paths: readonly string[]
  /** Paths below the origin itself that are its own, such as `hooks`: the service has what is below them at `/origin/hooks`. */
  readonly originPaths?: readonly string[]
  /** Whether it has a schema and a login role of its own in Postgres. */
  readonly database: boolean
  /** Its schema is in the database of the tenants' data, apart from that of the other services. */
  readonly inDataDatabase?: true
}

const withDatabase = <const Paths extends readonly string[]>(...paths: Paths) =>
  ({ paths, database: true }) as const

/** Every service there is, in the order they start: the one list that the gateway and the local run go by. */
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

/** What the gateway puts before a path below the origin, so that a service can tell it from the same path of the API. */
export const originPrefix = '/origin'

export type ServiceName = keyof typeof serviceRegistry
/** A service with a database. */
export type BackendName = {
  [Name in ServiceName]: (typeof serviceRegistry)[Name]['database'] extends true ? Name : never
}[ServiceName]

export const serviceNames = Object.keys(serviceRegistry) as ServiceName[]
export const backendNames = serviceNames.filter((name): name is BackendName => serviceRegistry[name].database)

/**
 * The durable consumers of each service on the stream of events, which its NATS user alone may use; a service that has
 * some checks the signatures of events, so they are signed for it. One that is missing here does not start.
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

/** The durable consumers of each service on the stream of topics. */
export const topicConsumers: Partial<Record<ServiceName, readonly string[]>> = {
  workflows: ['workflows-bus'],
}

/** The services that signal changes of what is no event, and the one that follows them. */
export const changeSignals: {
  readonly publishers: readonly ServiceName[]
  readonly followers: readonly ServiceName[]
} = {
  publishers: ['dispatcher', 'workflows', 'sdk'],
  followers: ['settings'],
}

/** The operator's command line: it calls services, and has no routes of its own. */
export const operator = 'operator'
/** Resources whose events change what a token is allowed, which the gateway listens to. */
export const rightsEventTypes = ['token', 'session', 'user', 'membership', 'role', 'workspace'] as const
/** Who signs internal tokens: every service, and the operator. */
export const internalParties = [...serviceNames, operator] as const
export type InternalParty = (typeof internalParties)[number]

/** The services that go on in people's names after a request: each by grants, see ADR 050. */
export const actsForUsers: readonly InternalParty[] = [
  'integrations',
  'workflows',
  'sdk',
  'analytics',
  'apps',
]
