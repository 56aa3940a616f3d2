import { backendConfig, commaSeparated, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  connectorAllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated private address blocks that connectors may call' }),
  connectorDeniedCidrs: commaSeparated.default([]).meta({
    description:
      'comma-separated address blocks that no connector may call, such as the public ones of the operator',
  }),
  connectorPorts: commaSeparated
    .default(['465', '587'])
    .transform((ports) => ports.map(Number))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .meta({
      description: 'comma-separated ports below 1024 of databases and mail servers that connectors may use',
    }),
  connectorAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'plain http of connectors: true, false, or loopback for loopback hosts only' }),
  connectorCaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates that are trusted in addition to the public authorities' }),
  connectorCheckSeconds: z.coerce.number().int().min(1).max(86_400).default(60).meta({
    description: 'seconds between two checks of a connector that is in use',
  }),
  connectorLogDays: z.coerce.number().int().min(1).max(3_650).default(30).meta({
    description: 'days that the log of invocations is kept',
  }),
})
export type IntegrationsConfig = z.infer<typeof config>

/** Throws ConfigError naming every variable that is missing or wrong. */
export const loadConfig = (env: Record<string, string | undefined>): IntegrationsConfig =>
  parseConfig(config, env)
