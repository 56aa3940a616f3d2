import { backendConfig, parseConfig } from '@opsplane/runtime'

/** Throws ConfigError naming every variable that is missing or wrong. */
export const loadConfig = (env: Record<string, string | undefined>) => parseConfig(backendConfig, env)
