import { backendConfig, commaSeparated, masterKeyConfig, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  ...masterKeyConfig,
  sdkAllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated address blocks artifacts may call although they are private' }),
  sdkDeniedCidrs: commaSeparated.default([]).meta({
    description:
      "comma-separated address blocks no artifact may call, such as the operator's own public ones",
  }),
  sdkAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'plain http of artifacts: true, false, or loopback hosts only' }),
  sdkCaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates trusted in addition to the public authorities' }),
  sdkExecutions: z.coerce.number().int().min(1).max(10_000).default(1_024).meta({
    description: 'executions in flight on a replica at most',
  }),
  sdkExecutionsPerWorkspace: z.coerce.number().int().min(1).max(10_000).default(128).meta({
    description: 'of one workspace; more that are to be answered at once are refused, others wait',
  }),
  sdkLeaseMs: z.coerce.number().int().min(1_000).max(600_000).default(30_000).meta({
    description: 'milliseconds after which the executions of a replica that died are ended or begun again',
  }),
  sdkPacksDir: z.string().min(1).optional().meta({
    description:
      'folder with packs of the operator, one in each folder of it: offered in addition to those that ship',
  }),
})
export type SdkConfig = z.infer<typeof config>

/** Throws `ConfigError` naming every missing or invalid variable. */
export const loadConfig = (env: Record<string, string | undefined>): SdkConfig => parseConfig(config, env)
