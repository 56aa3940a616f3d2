import { baseConfig, commaSeparated, originSetting, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'

const perMinute = z.coerce.number().int().min(0).max(10_000_000)

export const gatewayConfig = baseConfig.extend({
  publicOrigin: originSetting.optional().meta({
    description:
      'origin that clients use, for the OpenAPI document; default: the origin from which the document was requested',
  }),
  appsOrigin: originSetting.optional().meta({
    description: 'origin reserved for apps; if unset, apps are available below every origin',
  }),
  trustProxyCidrs: commaSeparated
    .pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
    .default([])
    .meta({ description: 'comma-separated networks whose X-Forwarded-For header is trusted' }),
  rateLimitPerMinute: perMinute.default(6000).meta({
    description:
      'requests per minute of one person or API key in one workspace, with a burst of a tenth of it (at least ' +
      '100); 0 disables the limit',
  }),
  anonymousRateLimitPerMinute: perMinute
    .default(600)
    .meta({ description: 'requests per minute of one network without a valid token; 0 disables the limit' }),
  anonymousBytesPerMinute: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000_000_000)
    .default(64 * 1024 * 1024)
    .meta({
      description: 'bytes per minute sent to one network without a valid token; 0 disables the limit',
    }),
  answerBytesPerMinute: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000_000_000)
    .default(4 * 1024 ** 3)
    .meta({
      description:
        'bytes per minute sent to one workspace, with a burst of a tenth of it; 0 disables the limit',
    }),
  unknownTokenRateLimitPerMinute: perMinute.default(3_000).meta({
    description:
      'unknown tokens checked per minute for one network, with a burst of a tenth of it; 0 disables the limit',
  }),
  connectionsPerAddress: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .default(12_000)
    .meta({
      description:
        'connections of one network open at once on one gateway, except those of TRUST_PROXY_CIDRS; 0 disables the ' +
        'limit',
    }),
  bodyTimeoutMs: z.coerce.number().int().min(100).max(120_000).default(30_000).meta({
    description: 'milliseconds to receive a request body of up to 64 KiB, and each further 64 KiB',
  }),
  tokenCacheMs: z.coerce.number().int().min(0).max(500).default(500).meta({
    description:
      'milliseconds a verified token is trusted, which is the maximum delay until a revocation takes effect',
  }),
  upstreamTimeoutMs: z.coerce.number().int().min(50).max(600_000).default(30_000).meta({
    description: 'milliseconds to wait for a response of a service; must exceed the longest long-poll, 20000',
  }),
})

export type GatewayConfig = z.infer<typeof gatewayConfig>

/** Throws ConfigError listing every invalid variable. */
export function loadConfig(env: Record<string, string | undefined>): GatewayConfig {
  return parseConfig(gatewayConfig, env)
}
