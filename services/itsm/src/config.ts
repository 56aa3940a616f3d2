import { backendConfig, parseConfig } from '@opsplane/runtime'
import type { z } from 'zod'

/** The service needs nothing beyond what every service with a database does. */
const config = backendConfig
export type ItsmConfig = z.infer<typeof config>

/** Throws ConfigError naming every variable that is missing or wrong. */
export function loadConfig(env: Record<string, string | undefined>): ItsmConfig {
  return parseConfig(config, env)
}
