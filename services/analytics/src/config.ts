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
  publicOrigin: originSetting.optional().meta({
    description: 'origin that clients use, for download URLs; if unset, the URLs are paths without an origin',
  }),
  feedRestMs: z.coerce.number().int().min(100).max(600_000).default(30_000).meta({
    description:
      'milliseconds between two checks for finished deliveries and executions while there are no events',
  }),
  exportRetentionHours: z.coerce.number().int().min(1).max(8_760).default(168).meta({
    description: 'retention time of export files, in hours',
  }),
  exportPartBytes: z.coerce.number().int().min(16_384).max(16_777_216).default(4_194_304).meta({
    description: 'size in bytes of a part of an export, from which the export resumes after a crash',
  }),
  exportSliceMs: z.coerce.number().int().min(1).max(60_000).default(1_000).meta({
    description: 'milliseconds one export is written before the next workspace has its turn',
  }),
  exportLeaseMs: z.coerce.number().int().min(1_000).max(600_000).default(30_000).meta({
    description: 'milliseconds after which other replicas take over the exports of a replica that died',
  }),
  exportNatsMaxBytes: z.coerce.number().int().min(-1).default(-1).meta({
    description: 'maximum size in bytes of the NATS object store at its creation; -1 for no limit',
  }),
  exportS3Bucket: z.string().optional().meta({
    description: 'S3 bucket that stores the files of exports, instead of NATS',
  }),
  exportS3Endpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ description: 'URL of S3' }),
  exportS3Region: z.string().default('us-east-1').meta({ description: 'region of the S3 bucket' }),
  exportS3Prefix: z
    .string()
    .regex(/^[\w.\-/]*$/)
    .default('')
    .meta({
      description: 'prefix of the names of objects in S3',
    }),
  exportS3AccessKeyId: z
    .string()
    .optional()
    .meta({ description: 'access key of S3 with permission to put, get and delete objects' }),
  exportS3SecretAccessKey: z.string().optional().meta({ description: 'secret of the S3 access key' }),
  exportS3AllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated private address blocks in which S3 is allowed' }),
  exportS3AllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'plain http connections to S3: true, false, or loopback for loopback hosts only' }),
  exportS3CaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates that are trusted in addition to the public authorities' }),
})
export type AnalyticsConfig = z.infer<typeof config>

/** Throws `ConfigError` naming every missing or invalid variable. */
export const loadConfig = (env: Record<string, string | undefined>): AnalyticsConfig =>
  parseConfig(config, env)
