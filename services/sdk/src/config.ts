import { backendConfig, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  sdkPacksDir: z.string().min(1).optional().meta({
    description:
      'folder with packs of the operator, one in each folder of it: offered beside those that ship',
  }),
})
export type SdkConfig = z.infer<typeof config>

/** Throws ConfigError naming every variable that is missing or wrong. */
export const loadConfig = (env: Record<string, string | undefined>): SdkConfig => parseConfig(config, env)
