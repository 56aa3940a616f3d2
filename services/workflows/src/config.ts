import { backendConfig, commaSeparated, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  workflowAllowedCidrs: commaSeparated
    .default([])
    .meta({ description: 'comma-separated private address blocks that http steps may call' }),
  workflowDeniedCidrs: commaSeparated.default([]).meta({
    description:
      'comma-separated address blocks that no http step may call, such as the public ones of the operator',
  }),
  workflowAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'plain http of http steps: true, false, or loopback for loopback hosts only' }),
  workflowCaFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificates that are trusted in addition to the public authorities' }),
  workflowRuns: z.coerce.number().int().min(1).max(10_000).default(256).meta({
    description: 'maximum number of runs in the memory of a replica',
  }),
  workflowRunsPerWorkspace: z.coerce.number().int().min(1).max(10_000).default(64).meta({
    description: 'maximum number of runs of one workspace in the memory of a replica',
  }),
  workflowLeaseMs: z.coerce.number().int().min(1_000).max(600_000).default(30_000).meta({
    description: 'milliseconds after which other replicas take over the runs of a replica that died',
  }),
  workflowMaxDeaths: z.coerce.number().int().min(1).max(1_000).default(5).meta({
    description: 'number of consecutive replica deaths at one step of a run after which the run is abandoned',
  }),
})
export type WorkflowsConfig = z.infer<typeof config>

/** Throws `ConfigError` naming every missing or invalid variable. */
export const loadConfig = (env: Record<string, string | undefined>): WorkflowsConfig =>
  parseConfig(config, env)
