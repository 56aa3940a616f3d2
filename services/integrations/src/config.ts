import { backendConfig, commaSeparated, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  connectorAllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated address blocks connectors may call although they are private' }),
  connectorDeniedCidrs: commaSeparated.default([]).meta({
    description:
      "comma-separated address blocks no connector may call, such as the operator's own public ones",
  }),
  connectorAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'plain http: true, false, or loopback hosts only' }),
  connectorCaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates trusted beside the public authorities' }),
})
export type IntegrationsConfig = z.infer<typeof config>

/** Throws ConfigError naming every variable that is missing or wrong. */
export const loadConfig = (env: Record<string, string | undefined>): IntegrationsConfig =>
  parseConfig(config, env)
