import { baseConfig, commaSeparated, originSetting, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const perMinute = z.coerce.number().int().min(0).max(10_000_000)

export const gatewayConfig = baseConfig.extend({
  publicOrigin: originSetting.optional().meta({
    description: 'origin clients use, for the OpenAPI document; by default the one the document came from',
  }),
  appsOrigin: originSetting.optional().meta({
    description: 'origin that apps run at, and nothing else does; without it they are below every origin',
  }),
  trustProxyCidrs: commaSeparated
    .pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
    .default([])
    .meta({ description: 'comma-separated networks whose X-Forwarded-For is believed' }),
  rateLimitPerMinute: perMinute.default(6000).meta({
    description:
      'requests per minute of one person or API key in one workspace, a tenth of it (100 at least) at once; 0 turns it off',
  }),
  anonymousRateLimitPerMinute: perMinute
    .default(600)
    .meta({ description: 'requests per minute of one network without a valid token; 0 turns it off' }),
  anonymousBytesPerMinute: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000_000_000)
    .default(64 * 1024 * 1024)
    .meta({ description: 'bytes per minute that one network is sent without a valid token; 0 turns it off' }),
  answerBytesPerMinute: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000_000_000)
    .default(4 * 1024 ** 3)
    .meta({
      description: 'bytes per minute that one workspace is sent, a tenth of it at once; 0 turns it off',
    }),
  unknownTokenRateLimitPerMinute: perMinute.default(3_000).meta({
    description:
      'tokens not seen before that one network may have checked per minute, a tenth of it at once; 0: any',
  }),
  connectionsPerAddress: z.coerce.number().int().min(0).max(1_000_000).default(12_000).meta({
    description:
      'connections of one network that one gateway keeps open at once, TRUST_PROXY_CIDRS excepted; 0: any',
  }),
  bodyTimeoutMs: z.coerce.number().int().min(100).max(120_000).default(30_000).meta({
    description: 'longest time for a request body up to 64 KiB, and for each further 64 KiB',
  }),
  tokenCacheMs: z.coerce
    .number()
    .int()
    .min(0)
    .max(500)
    .default(500)
    .meta({ description: 'how long a verified token is trusted: the bound on how late a revocation shows' }),
  upstreamTimeoutMs: z.coerce
    .number()
    .int()
    .min(50)
    .max(600_000)
    .default(30_000)
    .meta({ description: 'longest wait for a service; keep it above the longest long-poll, 20000' }),
})

export type GatewayConfig = z.infer<typeof gatewayConfig>

/** Throws ConfigError listing every invalid variable. */
export function loadConfig(env: Record<string, string | undefined>): GatewayConfig {
  return parseConfig(gatewayConfig, env)
}
