import {
  backendConfig,
  ConfigError,
  commaSeparated,
  databaseConnections,
  masterKeyConfig,
  parseConfig,
} from '@opsplane/runtime'
import { z } from 'zod'

const count = (initial: number, max: number) => z.coerce.number().int().min(1).max(max).default(initial)

const schema = backendConfig.extend({
  databasePoolSize: databaseConnections(6),
  ...masterKeyConfig,
  webhookAllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated private address blocks that webhooks may call' }),
  webhookDeniedCidrs: commaSeparated.default([]).meta({
    description:
      'comma-separated address blocks that no webhook may call, such as the public ones of the operator',
  }),
  webhookAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({
      description: 'plain http to endpoints of webhooks: true, false, or loopback for loopback hosts only',
    }),
  webhookCaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates that are trusted in addition to the public authorities' }),
  webhookConcurrency: count(512, 10_000).meta({
    description: 'maximum number of delivery attempts in flight at once',
  }),
  webhookRetryConcurrency: count(128, 10_000).meta({
    description: 'maximum number of retries in flight at once',
  }),
  webhookEndpointConcurrency: count(32, 1_000).meta({
    description: 'maximum number of attempts in flight at once to one webhook',
  }),
  webhookLeaseMs: count(15_000, 600_000).meta({
    description:
      'milliseconds beyond its timeout that a delivery stays with a replica before another replica takes it over',
  }),
  webhookDrainPerSecond: count(50, 10_000).meta({
    description:
      'held deliveries sent per second after a resume, and deliveries replayed per second by a replay job',
  }),
  webhookStopGraceMs: z.coerce.number().int().min(0).max(120_000).default(10_000).meta({
    description: 'milliseconds that attempts in flight have to end when the service stops',
  }),
  webhookRetryJitter: z.coerce.number().min(0).max(0.5).default(0).meta({
    description: 'random share of a retry delay',
  }),
  webhookRetentionDays: count(30, 3_650).meta({
    description: 'days that finished deliveries are kept after the day of their event',
  }),
  webhookHeldRetentionDays: count(90, 3_650).meta({
    description: 'maximum days that deliveries are kept if some of the same day are unfinished',
  }),
})
export type DispatcherConfig = z.infer<typeof schema>

/** Parses the service's settings from environment variables. Throws ConfigError. */
export function loadConfig(env: Record<string, string | undefined>): DispatcherConfig {
  const config = parseConfig(schema, env)
  if (config.webhookHeldRetentionDays < config.webhookRetentionDays)
    throw new ConfigError([
      `WEBHOOK_HELD_RETENTION_DAYS must be at least WEBHOOK_RETENTION_DAYS, which is ${config.webhookRetentionDays}`,
    ])
  return config
}
