import { backendConfig, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  dataSessions: z.coerce.number().int().min(2).max(1_000).default(10).meta({
    description: 'maximum number of connections to the data database as tenants, over all workspaces',
  }),
  queriesPerWorkspace: z.coerce.number().int().min(1).max(1_000).default(8).meta({
    description: 'maximum number of concurrent SQL queries of one workspace in each replica',
  }),
})
export type StudioConfig = z.infer<typeof config>

/** Throws ConfigError listing every missing or invalid variable. */
export const loadConfig = (env: Record<string, string | undefined>): StudioConfig => parseConfig(config, env)
