import {
  backendConfig,
  commaSeparated,
  databaseConnections,
  originSetting,
  parseConfig,
} from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  databasePoolSize: databaseConnections(6),
  publicOrigin: originSetting
    .optional()
    .meta({ description: 'origin clients use, for download URLs; without it they are paths below it' }),
  feedRestMs: z.coerce.number().int().min(100).max(600_000).default(30_000).meta({
    description:
      'milliseconds between two looks at how deliveries and executions ended, while there are no events',
  }),
  exportRetentionHours: z.coerce.number().int().min(1).max(8_760).default(168).meta({
    description: 'hours the file of an export is kept',
  }),
  exportPartBytes: z.coerce.number().int().min(16_384).max(16_777_216).default(4_194_304).meta({
    description: 'bytes of a part, with which an export goes on after a crash',
  }),
  exportSliceMs: z.coerce.number().int().min(1).max(60_000).default(1_000).meta({
    description: 'milliseconds one export is written before the next workspace has its turn',
  }),
  exportLeaseMs: z.coerce.number().int().min(1_000).max(600_000).default(30_000).meta({
    description: 'milliseconds after which the exports of a replica that died are taken over',
  }),
  exportNatsMaxBytes: z.coerce.number().int().min(-1).default(-1).meta({
    description: 'most bytes of the object store of NATS when it is made, -1 for no limit',
  }),
  exportS3Bucket: z.string().optional().meta({
    description: 'bucket of S3 that files of exports are kept in, instead of NATS',
  }),
  exportS3Endpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ description: 'where S3 is' }),
  exportS3Region: z.string().default('us-east-1').meta({ description: 'its region' }),
  exportS3Prefix: z
    .string()
    .regex(/^[\w.\-/]*$/)
    .default('')
    .meta({
      description: 'put before the names of objects',
    }),
  exportS3AccessKeyId: z.string().optional().meta({ description: 'key that may put, get and delete' }),
  exportS3SecretAccessKey: z.string().optional().meta({ description: 'its secret' }),
  exportS3AllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated address blocks S3 may be at although they are private' }),
  exportS3AllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'plain http of S3: true, false, or loopback hosts only' }),
  exportS3CaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates trusted in addition to the public authorities' }),
})
export type AnalyticsConfig = z.infer<typeof config>

/** Throws `ConfigError` naming every missing or invalid variable. */
export const loadConfig = (env: Record<string, string | undefined>): AnalyticsConfig =>
  parseConfig(config, env)
