import { backendConfig, commaSeparated, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  workflowAllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated address blocks http steps may call although they are private' }),
  workflowDeniedCidrs: commaSeparated.default([]).meta({
    description:
      "comma-separated address blocks no http step may call, such as the operator's own public ones",
  }),
  workflowAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'plain http of http steps: true, false, or loopback hosts only' }),
  workflowCaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates trusted in addition to the public authorities' }),
  workflowRuns: z.coerce.number().int().min(1).max(10_000).default(256).meta({
    description: 'runs in the memory of a replica at most',
  }),
  workflowRunsPerWorkspace: z.coerce.number().int().min(1).max(10_000).default(64).meta({
    description: 'of one workspace',
  }),
  workflowLeaseMs: z.coerce.number().int().min(1_000).max(600_000).default(30_000).meta({
    description: 'milliseconds after which the runs of a replica that died are taken over',
  }),
  workflowMaxDeaths: z.coerce.number().int().min(1).max(1_000).default(5).meta({
    description: 'how often in a row replicas may die at one step of a run before it is given up',
  }),
})
export type WorkflowsConfig = z.infer<typeof config>

/** Throws `ConfigError` naming every missing or invalid variable. */
export const loadConfig = (env: Record<string, string | undefined>): WorkflowsConfig =>
  parseConfig(config, env)
