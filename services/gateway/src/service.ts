import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { ApiError, ConfirmedTokens, natsNames, Principal, SharedRates } from '@opsplane/contracts'
import {
  createInternalIssuer,
  type InternalIssuer,
  type InternalTls,
  listen,
  measureCertificates,
  readInternalTls,
  remoteLeases,
  requestRecorders,
  type ServiceClient,
  serviceClient,
} from '@opsplane/http'
import { connectNats, measureLink } from '@opsplane/nats'
import {
  createBudgets,
  createConcurrencyLimiter,
  createLimits,
  createLogger,
  createReleasers,
  type Logger,
  parseNetwork,
  type RunnableService,
  type RunningService,
  urlOfService,
} from '@opsplane/runtime'
import { openTelemetry } from '@opsplane/telemetry'
import { z } from 'zod'
import { createAuthenticator } from './authenticate.js'
import { createClientAddressReader, isAddressWithin } from './client-address.js'
import { type GatewayConfig, loadConfig } from './config.js'
import { createConnectionLimit } from './connection-limit.js'
import { createLinkedUpstream } from './links/linked-upstream.js'
import { createLinks } from './links/links.js'
import { createOpenAnswers } from './open-answers/open-answers.js'
import { createOriginRouter } from './origin-router.js'
import { createOwnRoutes } from './own-routes.js'
import { createProxy, type ProxiedService } from './proxy.js'
import { computeBurst, createRateLimiter } from './rate-limit.js'
import { watchRevocations } from './revocations.js'
import { createServiceRoutes } from './route-tables.js'
import { createSharedRates, type SpendRates } from './shared-rates.js'
import { ownOrigin } from './sign-in/own-origin.js'
import { createSessionCookie } from './sign-in/session-cookie.js'
import { createSsoCookie } from './sign-in/sso-cookie.js'
import { createTokenCache, type Verification, type VerifyRequest } from './token-cache.js'
import { createUnknownProxies } from './unknown-proxies.js'
import { createUpstream } from './upstream.js'

/** Dependencies that tests and the local run replace. */
export interface GatewayOverrides {
  log?: Logger
  monotonicMs?: () => number
}

/** Maximum concurrent logins: the number of password hashes that settings queues. */
const maxLogins = 32
const maxLoginsPerNetwork = 8
/** Maximum concurrent calls of inbound webhooks. */
const maxHookCalls = 512
const maxHookCallsPerNetwork = 64
/** Maximum bytes of their bodies in memory. */
const maxBodyBytes = 128 * 1024 * 1024
const maxBodyBytesPerNetwork = 32 * 1024 * 1024

/**
 * Maximum milliseconds for settings to verify a token, and for a service to list its routes. A service that stalls for
 * seconds is busy, not down.
 */
const internalTimeoutMs = 10_000

const Verified = z.object({ principal: Principal, expiresAt: z.iso.datetime().nullable() })

export const gateway: RunnableService<GatewayConfig, GatewayOverrides> = {
  name: 'gateway',
  loadConfig,
  start,
}

/** Resolves once it listens. NATS and the services may become available later. */
async function start(config: GatewayConfig, overrides: GatewayOverrides = {}): Promise<RunningService> {
  const log =
    overrides.log ??
    createLogger({ service: 'gateway', level: config.logLevel, tenantData: config.logTenantData })
  const monotonicMs = overrides.monotonicMs ?? (() => performance.now())
  const issuer = createInternalIssuer({ service: 'gateway', privateKey: config.servicePrivateKey })
  const tls = readInternalTls(config)
  const telemetry = await openTelemetry('gateway', config)
  const { metrics, tracing } = telemetry
  const releasers = createReleasers(log)
  releasers.add('telemetry', () => telemetry.close())
  try {
    // Without settings no token could be verified.
    const settings = createClient(urlOfService(config, 'settings'), 'settings', { issuer, tls })
    releasers.add('settings client', () => settings.close())
    const tokens = createTokenCache({
      verify: tokenVerifier(settings),
      ttlMs: config.tokenCacheMs,
      monotonicMs,
      wallMs: Date.now,
    })

    const link = connectNats({ url: config.natsUrl, name: 'gateway', log })
    releasers.add('NATS', () => link.close())
    measureLink(metrics, link)
    measureCertificates(metrics, tls)
    const openAnswers = createOpenAnswers({ ask: tokenConfirmer(settings), monotonicMs })
    releasers.add('open answers', () => openAnswers.close())
    const names = natsNames(config.natsPrefix)
    const revocations = watchRevocations({ link, names, tokens, openAnswers, log })
    releasers.add('revocations', () => revocations.close())

    const services = new Map<string, ProxiedService>()
    for (const [service, url] of Object.entries(config.serviceUrls)) {
      const client = createClient(url, service, { issuer, tls })
      const routes = createServiceRoutes({ service, client, log, monotonicMs })
      const upstreamOptions = { timeoutMs: config.upstreamTimeoutMs, onConnect: routes.renewed, tls }
      const quick = createUpstream(url, upstreamOptions)
      const waiting = createUpstream(url, upstreamOptions)
      const links = createLinks({
        ...{ url, tls, timeoutMs: config.upstreamTimeoutMs },
        token: () => issuer.serviceToken(service),
      })
      const feeds = createLinkedUpstream({ links, plain: waiting, timeoutMs: config.upstreamTimeoutMs })
      services.set(service, { quick, waiting, feeds, routes })
      releasers.add(`connections to ${service}`, async () => {
        routes.close()
        await Promise.all([quick.close(), waiting.close(), feeds.close(), client.close()])
      })
    }
    // Not awaited: only requests that need the table wait for it.
    for (const { routes } of services.values()) void routes.ask()

    const shared = createSharedRates(rateSpender(settings), monotonicMs)
    const limiter = (policy: string, perMinute: number, burst = perMinute) =>
      createRateLimiter({ policy, perMinute, burst, monotonicMs, shared })
    const anonymousLimiter = limiter('anonymous', config.anonymousRateLimitPerMinute)
    const byteLimiter = (policy: string, perMinute: number, burst: number) =>
      createRateLimiter({ policy, perMinute, burst, unit: 'content-bytes', monotonicMs, shared })
    const anonymousBytes = byteLimiter(
      'anonymous-bytes',
      config.anonymousBytesPerMinute,
      config.anonymousBytesPerMinute,
    )
    const answerBytes = byteLimiter(
      'answer-bytes',
      config.answerBytesPerMinute,
      computeBurst(config.answerBytesPerMinute),
    )
    const clientAddress = createClientAddressReader(config.trustProxyCidrs)
    const unknownProxies = createUnknownProxies({ trustedCidrs: config.trustProxyCidrs, monotonicMs, log })
    const budgets = createBudgets({
      limits: createLimits(config),
      grant: remoteLeases(settings, `${config.instanceId}:${randomUUID()}`),
      monotonicMs,
    })
    const isTrustedProxy = isAddressWithin(config.trustProxyCidrs)
    const origin = ownOrigin(config, isTrustedProxy)
    const sessionCookie = createSessionCookie(config, origin)
    const proxy = createProxy({
      services,
      authenticator: createAuthenticator({
        ...{ tokens, openAnswers },
        limiter: limiter('default', config.rateLimitPerMinute, computeBurst(config.rateLimitPerMinute)),
        anonymousLimiter,
        sessionCookie,
        unverifiedTokenLimiter: limiter(
          'new-tokens',
          config.unknownTokenRateLimitPerMinute,
          Math.ceil(config.unknownTokenRateLimitPerMinute / 10),
        ),
      }),
      tokenFor: issuer.clientToken,
      clientAddress,
      sessionCookie,
      ssoCookie: createSsoCookie(config, origin),
      loginLimiter: guestLimiter(maxLogins, maxLoginsPerNetwork),
      hookLimiter: guestLimiter(maxHookCalls, maxHookCallsPerNetwork),
      bodyLimiter: guestLimiter(maxBodyBytes, maxBodyBytesPerNetwork),
      budgets,
      bodyTimeoutMs: config.bodyTimeoutMs,
      limit: (address) => anonymousLimiter.take(parseNetwork(address)),
      anonymousBytes,
      answerBytes,
      belongs: createOriginRouter(config),
      own: createOwnRoutes({
        ...{ config, tls, monotonicMs, clientAddress, anonymousBytes, log },
        warnings: unknownProxies.warnings,
      }),
      recorderFor: requestRecorders(metrics),
      tracing,
      log,
    })

    const connections = createConnectionLimit({
      maxConnections: config.connectionsPerAddress,
      isProxy: isTrustedProxy,
      log,
    })
    const serve: RequestListener = (request, response) => {
      unknownProxies.notice(request)
      proxy(request, response)
    }
    const { port, server, close } = await listen(connections.guard(serve), {
      port: config.port,
      host: config.host,
      log,
      drainDelayMs: config.drainDelayMs,
      // Long-polls are answered immediately, so that they do not delay the shutdown. In a deployment, where other
      // replicas take over meanwhile, they run to their end, which is before the end of the drain.
      onDrain: () => {
        if (config.drainDelayMs > 0) return
        for (const { waiting, feeds } of services.values()) {
          void waiting.close()
          void feeds.close()
        }
      },
    })
    server.on('connection', connections.accept)
    releasers.add('HTTP server', close)
    const url = `http://${config.host}:${port}`
    const metricsUrl = await telemetry.serve()
    log.info({ url }, 'listening')
    return { name: 'gateway', port, url, metricsUrl, stop: () => releasers.release() }
  } catch (error) {
    await releasers.release().catch(() => undefined)
    throw error
  }
}

/**
 * Limits the concurrent requests without a token, or the bytes of their bodies. Public routes check passwords, which
 * occupies a core for about 20 ms each. Requests that would only wait for this are rejected here, so that a flood of
 * guesses does not affect other clients.
 */
const guestLimiter = (total: number, perNetwork: number) =>
  createConcurrencyLimiter({
    ...{ total, perKey: perNetwork },
    refusal: () =>
      new ApiError(
        'service_unavailable',
        'Too many requests without a login at once. Try again in a moment.',
      ),
  })

function createClient(
  baseUrl: string,
  audience: string,
  { issuer, tls }: { issuer: InternalIssuer; tls: InternalTls | undefined },
): ServiceClient {
  return serviceClient({ baseUrl, audience, issuer, tls, timeoutMs: internalTimeoutMs })
}

function tokenVerifier(settings: ServiceClient) {
  return async ({ token, workspace, environment }: VerifyRequest): Promise<Verification> => {
    const question = { token, environment, ...(workspace !== undefined && { workspace }) }
    try {
      return await settings.post('/internal/tokens/verify', question, Verified)
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) throw error
      // Other errors do not indicate an invalid token.
      throw new ApiError('service_unavailable', 'Tokens cannot be verified at the moment.', { cause: error })
    }
  }
}

/** Maximum verification requests that settings accepts in one call. */
const maxQuestions = 1_000

function tokenConfirmer(settings: ServiceClient) {
  const confirmTokens = async (some: readonly VerifyRequest[]) => {
    const questions = some.map(({ token, workspace, environment }) => ({
      ...{ token, environment },
      ...(workspace !== undefined && { workspace }),
    }))
    const found = await settings.post('/internal/tokens/confirm', { questions }, ConfirmedTokens)
    return found.answers.map((place) => (place === null ? null : (found.permissions[place] ?? null)))
  }
  return async (questions: readonly VerifyRequest[]) => {
    const answers: (readonly string[] | null)[] = []
    for (let at = 0; at < questions.length; at += maxQuestions)
      answers.push(...(await confirmTokens(questions.slice(at, at + maxQuestions))))
    return answers
  }
}

/** Settings counts requests for all gateways. */
function rateSpender(settings: ServiceClient): SpendRates {
  return async (spends) => (await settings.post('/internal/rates/spend', { spends }, SharedRates)).tokens
}
