import { backendConfig, commaSeparated, databaseConnections, flag, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const config = backendConfig.extend({
  databasePoolSize: databaseConnections(7),
  embeddingsUrl: z
    .url()
    .optional()
    .meta({ description: 'OpenAI-compatible service that computes the embeddings for the knowledge search' }),
  embeddingsModel: z.string().min(1).max(200).default('text-embedding-3-small'),
  embeddingsApiKey: z
    .string()
    .optional()
    .meta({ description: 'API key of the embeddings service, sent as a bearer token' }),
  embeddingsLocal: flag.default(true).meta({
    description:
      'whether the model bundled with the package computes the embeddings if no endpoint is configured',
  }),
  embeddingsAllowedCidrs: commaSeparated.default([]).meta({
    description: 'comma-separated private address blocks in which the embeddings service may be located',
  }),
})
export type ItsmConfig = z.infer<typeof config>

/** Reads the configuration. Throws ConfigError naming every variable that is missing or invalid. */
export function loadConfig(env: Record<string, string | undefined>): ItsmConfig {
  return parseConfig(config, env)
}
