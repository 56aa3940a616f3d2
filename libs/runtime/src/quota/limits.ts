import { z } from 'zod'

/** A limit of one tenant, or of one of its keys. 0 means no limit. */
interface LimitDefinition {
  initial: number
  /** Shown in docs/configuration.md and to callers that reach the limit. */
  description: string
}

/** All limits, with their defaults. */
export const limitTable = {
  workspaceRequestsPerMinute: {
    initial: 60_000,
    description: 'requests of one workspace per minute, over all replicas',
  },
  openPolls: {
    initial: 10_000,
    description: 'long-polls and exports of one workspace open at once, over all replicas',
  },
  openPollsPerKey: {
    initial: 5_000,
    description: 'long-polls and exports of one session or API key open at once, over all replicas',
  },
  requestsInFlight: {
    initial: 4_000,
    description: 'concurrent requests of one workspace, excluding long-polls and exports, over all replicas',
  },
  requestsInFlightPerKey: {
    initial: 2_000,
    description:
      'concurrent requests of one session or API key, excluding long-polls and exports, over all replicas',
  },
  requestBytesInFlight: {
    initial: 134_217_728,
    description: 'bytes of request bodies of one workspace in flight, over all replicas',
  },
  workspaces: {
    initial: 100,
    description: 'workspaces owned by one person',
  },
  webhooks: {
    initial: 1_000,
    description: 'webhooks of one workspace in one environment',
  },
  attempts: {
    initial: 256,
    description:
      'concurrent delivery attempts of one workspace on one replica, counted separately for first attempts and ' +
      'retries',
  },
  slowAttempts: {
    initial: 512,
    description: 'delivery attempts of one workspace on one replica that take longer than a second',
  },
  queuedDeliveries: {
    initial: 10_000,
    description: 'deliveries of one workspace in the memory of one replica',
  },
  deliveryBytes: {
    initial: 33_554_432,
    description: 'bytes of the bodies of the deliveries of one workspace in the memory of one replica',
  },
  connectors: {
    initial: 1_000,
    description: 'connectors of one workspace in one environment',
  },
  connectorInvocations: {
    initial: 128,
    description: 'concurrent invocations of connectors of one workspace on one replica',
  },
  exports: {
    initial: 100,
    description: 'exports of one workspace that are running or waiting',
  },
  exportBytes: {
    initial: 5_368_709_120,
    description: 'bytes of the stored export files of one workspace',
  },
  kpis: {
    initial: 500,
    description: 'KPIs of one workspace in one environment',
  },
  tables: {
    initial: 1_000,
    description: 'tables of one workspace in one environment, including those in the trash',
  },
  recordBytes: {
    initial: 53_687_091_200,
    description: 'bytes of the tables of one workspace in one environment, including their indexes',
  },
  imports: {
    initial: 100,
    description: 'imports of one workspace that are being uploaded, being written or waiting',
  },
  importBytes: {
    initial: 5_368_709_120,
    description:
      'bytes of the files of the imports of one workspace that are being uploaded, being written or waiting',
  },
  egressBytesPerMinute: {
    initial: 268_435_456,
    description:
      'bytes of webhook bodies of one workspace sent per minute, and separately as many bytes sent by connectors, ' +
      'workflows and artifacts together, over all replicas',
  },
  topicBytesPerMinute: {
    initial: 67_108_864,
    description: 'bytes one workspace publishes to topics per minute, over all replicas',
  },
  topicBytesPerDay: {
    initial: 4_294_967_296,
    description:
      'bytes one workspace publishes to topics per day, over all replicas; together with the maximum age of the ' +
      'stream of topics, limits the data JetStream stores for a workspace',
  },
  traceBytesPerDay: {
    initial: 10_737_418_240,
    description:
      'bytes of runs and executions of one workspace that end in a day, over all replicas; beyond the limit, ' +
      'values and logs that are only kept for people to read are omitted',
  },
} as const satisfies Record<string, LimitDefinition>

export type LimitName = keyof typeof limitTable
const names = Object.keys(limitTable) as LimitName[]

/** Some of the limits, by name. */
export const LimitValues = z.partialRecord(z.enum(names), z.int().min(0))
export type LimitValues = z.infer<typeof LimitValues>

export interface Limits {
  of(name: LimitName, workspaceId: string): number
}

/** `workspaceLimits`: limits of single workspaces, by id. */
export function createLimits(config: {
  limits?: LimitValues
  workspaceLimits?: Readonly<Record<string, LimitValues>>
}): Limits {
  const { limits = {}, workspaceLimits = {} } = config
  const all = Object.fromEntries(
    names.map((name) => [name, limits[name] ?? limitTable[name].initial]),
  ) as Record<LimitName, number>
  const own = new Map(Object.entries(workspaceLimits))
  return { of: (name, workspaceId) => own.get(workspaceId)?.[name] ?? all[name] }
}
