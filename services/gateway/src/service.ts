import { ApiError, natsNames, Principal } from '@opsplane/contracts'
import {
  createInternalIssuer,
  type InternalIssuer,
  listen,
  type ServiceClient,
  serviceClient,
} from '@opsplane/http'
import { connectNats } from '@opsplane/nats'
import {
  createLogger,
  createReleasers,
  type Logger,
  type RunnableService,
  type RunningService,
  urlOfService,
} from '@opsplane/runtime'
import { z } from 'zod'
import { createAuthenticator } from './authenticate.js'
import { clientAddressReader } from './client-address.js'
import { type GatewayConfig, loadConfig } from './config.js'
import { createDoor } from './door.js'
import { createOwnRoutes } from './own-routes.js'
import { createRateLimiter } from './rate-limit.js'
import { watchRevocations } from './revocations.js'
import { createTokenCache, type TokenQuestion, type Verification } from './token-cache.js'
import { createTurnstile } from './turnstile.js'
import { createUpstream } from './upstream.js'

/** What tests and the local run replace. */
export interface GatewayOverrides {
  log?: Logger
  monotonicMs?: () => number
}

/** Logins under way: as many as settings lets wait for a hash. */
const loginsAtOnce = 32
const loginsOfAddressAtOnce = 8

/** How long settings may take to vouch for a token. */
const internalTimeoutMs = 5_000

const Verified = z.object({ principal: Principal, expiresAt: z.iso.datetime().nullable() })

export const gateway: RunnableService<GatewayConfig, GatewayOverrides> = {
  name: 'gateway',
  loadConfig,
  start,
}

/** Resolves once it listens. NATS and the services may be down and come later. */
async function start(config: GatewayConfig, overrides: GatewayOverrides = {}): Promise<RunningService> {
  const log = overrides.log ?? createLogger({ service: 'gateway', level: config.logLevel })
  const monotonicMs = overrides.monotonicMs ?? (() => performance.now())
  const issuer = createInternalIssuer({ service: 'gateway', privateKey: config.servicePrivateKey })
  const releasers = createReleasers(log)
  try {
    const settings = settingsClient(config, issuer)
    releasers.add('settings client', () => settings.close())
    const tokens = createTokenCache({
      verify: tokenVerifier(settings),
      ttlMs: config.tokenCacheMs,
      monotonicMs,
      wallMs: Date.now,
    })

    const link = connectNats({ url: config.natsUrl, name: 'gateway', log })
    releasers.add('NATS', () => link.close())
    const revocations = watchRevocations({ link, names: natsNames(config.natsPrefix), tokens, log })
    releasers.add('revocations', () => revocations.close())

    const services = new Map(
      Object.entries(config.serviceUrls).map(([name, url]) => {
        const quick = createUpstream(url, config.upstreamTimeoutMs)
        const waiting = createUpstream(url, config.upstreamTimeoutMs)
        releasers.add(`connections to ${name}`, async () => {
          await Promise.all([quick.close(), waiting.close()])
        })
        return [name, { quick, waiting }]
      }),
    )

    const limiter = (policy: string, perMinute: number) =>
      createRateLimiter({ policy, perMinute, monotonicMs })
    const anonymousLimiter = limiter('anonymous', config.anonymousRateLimitPerMinute)
    const door = createDoor({
      services,
      authenticator: createAuthenticator({
        tokens,
        limiter: limiter('default', config.rateLimitPerMinute),
        anonymousLimiter,
      }),
      tokenFor: issuer.tokenFor,
      clientAddress: clientAddressReader(config.trustProxyCidrs),
      turnstile: createTurnstile({ total: loginsAtOnce, perAddress: loginsOfAddressAtOnce }),
      limit: anonymousLimiter.take,
      own: createOwnRoutes({ config, monotonicMs, log }),
      log,
    })

    const { port, close } = await listen(door, {
      port: config.port,
      host: config.host,
      log,
      // Whoever waits for events is told at once to come again, rather than holding up the end.
      onDrain: () => {
        for (const { waiting } of services.values()) void waiting.close()
      },
    })
    releasers.add('HTTP server', close)
    const url = `http://${config.host}:${port}`
    log.info({ url }, 'listening')
    return { name: 'gateway', port, url, stop: () => releasers.release() }
  } catch (error) {
    await releasers.release().catch(() => undefined)
    throw error
  }
}

/** Without a settings service nobody could get in. */
function settingsClient(config: GatewayConfig, issuer: InternalIssuer): ServiceClient {
  const baseUrl = urlOfService(config, 'settings')
  return serviceClient({ baseUrl, audience: 'settings', issuer, timeoutMs: internalTimeoutMs })
}

function tokenVerifier(settings: ServiceClient) {
  return async ({ token, workspace, environment }: TokenQuestion): Promise<Verification> => {
    const question = { token, environment, ...(workspace !== undefined && { workspace }) }
    try {
      return await settings.post('/internal/tokens/verify', question, Verified)
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) throw error
      // Whatever else happened says nothing about the token.
      throw new ApiError('service_unavailable', 'Tokens cannot be checked at the moment.', { cause: error })
    }
  }
}
