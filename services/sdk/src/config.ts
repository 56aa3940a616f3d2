import { backendConfig, commaSeparated, masterKeyConfig, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  ...masterKeyConfig,
  sdkAllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated private address blocks that artifacts may call' }),
  sdkDeniedCidrs: commaSeparated.default([]).meta({
    description:
      'comma-separated address blocks that no artifact may call, such as the public ones of the operator',
  }),
  sdkAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'plain http of artifacts: true, false, or loopback for loopback hosts only' }),
  sdkCaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates that are trusted in addition to the public authorities' }),
  sdkExecutions: z.coerce.number().int().min(1).max(10_000).default(1_024).meta({
    description: 'maximum number of executions in flight on a replica',
  }),
  sdkExecutionsPerWorkspace: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(128)
    .meta({
      description:
        'maximum number of executions of one workspace in flight on a replica; further synchronous executions are ' +
        'refused, others wait',
    }),
  sdkLeaseMs: z.coerce.number().int().min(1_000).max(600_000).default(30_000).meta({
    description: 'milliseconds after which the executions of a replica that died are ended or restarted',
  }),
  sdkPacksDir: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        'directory with packs of the operator, each in its own subdirectory; they are offered in addition to the ' +
        'packs that ship with the platform',
    }),
})
export type SdkConfig = z.infer<typeof config>

/** Throws `ConfigError` naming every missing or invalid variable. */
export const loadConfig = (env: Record<string, string | undefined>): SdkConfig => parseConfig(config, env)
