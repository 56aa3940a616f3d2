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
    description: 'the same of one session or API key',
  },
  requestsInFlight: {
    initial: 4_000,
    description: 'concurrent requests of one workspace, without long-polls and exports, over all replicas',
  },
  requestsInFlightPerKey: {
    initial: 2_000,
    description: 'the same of one session or API key',
  },
  requestBytesInFlight: {
    initial: 134_217_728,
    description: 'bytes of request bodies of one workspace in flight, over all replicas',
  },
  workspaces: {
    initial: 100,
    description: 'workspaces one person owns',
  },
  webhooks: {
    initial: 1_000,
    description: 'webhooks of one workspace in one environment',
  },
  attempts: {
    initial: 256,
    description:
      'concurrent delivery attempts of one workspace on one replica, for each of first attempts and retries',
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
    description: 'bytes of the bodies of these deliveries',
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
    description: 'exports of one workspace that are being made or wait to be',
  },
  exportBytes: {
    initial: 5_368_709_120,
    description: 'bytes of the files of exports that are kept for one workspace',
  },
  kpis: {
    initial: 500,
    description: 'KPIs of one workspace in one environment',
  },
  tables: {
    initial: 1_000,
    description: 'tables of one workspace in one environment, with those in the trash',
  },
  recordBytes: {
    initial: 53_687_091_200,
    description: 'bytes of the tables of one workspace in one environment, with their indexes',
  },
  imports: {
    initial: 100,
    description: 'imports of one workspace that are being uploaded, being written or wait to be',
  },
  importBytes: {
    initial: 5_368_709_120,
    description: 'bytes of the files of these imports',
  },
  egressBytesPerMinute: {
    initial: 268_435_456,
    description:
      'bytes of webhook bodies of one workspace sent per minute, and as many sent by connectors, workflows and artifacts together, over all replicas',
  },
  topicBytesPerMinute: {
    initial: 67_108_864,
    description: 'bytes one workspace publishes to topics per minute, over all replicas',
  },
  topicBytesPerDay: {
    initial: 4_294_967_296,
    description:
      'the same per day: with the age of the stream of topics it bounds what JetStream keeps of a workspace',
  },
  traceBytesPerDay: {
    initial: 10_737_418_240,
    description:
      'bytes of runs and executions of one workspace that end in a day, over all replicas; of those beyond it, values and logs that are kept for people only are left out',
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
