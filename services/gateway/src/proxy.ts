import type { IncomingMessage, RequestListener } from 'node:http'
import { browserSignIn, guestTokenHeader, type Principal, ssoCookieHeader } from '@opsplane/contracts'
import {
  type Exchange,
  followExchange,
  logRequest,
  noOperation,
  type RecorderFor,
  requestIdFrom,
  routeNotFound,
  securityHeaders,
  sendError,
} from '@opsplane/http'
import { type Budgets, type ConcurrencyLimiter, type Logger, parseNetwork } from '@opsplane/runtime'
import type { Traced, Tracing } from '@opsplane/telemetry'
import { type Authenticator, type Caller, parseBearerToken } from './authenticate.js'
import { requestHeaders } from './forwarded-headers.js'
import type { createOriginRouter, OriginDecision } from './origin-router.js'
import { joinRateHeaders, type RateHeaders, type RateLimiter } from './rate-limit.js'
import { discardRest, requestBody } from './request-body.js'
import { acquireSlots, createRequestSlots } from './request-slots.js'
import type { OperationRule, ServiceRoutes } from './route-tables.js'
import type { OwnCookie } from './sign-in/own-cookie.js'
import type { SessionCookie } from './sign-in/session-cookie.js'
import { isSsoCallback, isSsoStart } from './sign-in/sso-cookie.js'
import { apiPrefix, findRouteRule, resolveTarget, type Target } from './target.js'
import { type Rechecks, serviceUnavailable, type Upstream } from './upstream.js'

/** One service as used by the proxy. Quick requests do not queue behind long-polls. */
export interface ProxiedService {
  quick: Upstream
  waiting: Upstream
  feeds: Upstream
  routes: Pick<ServiceRoutes, 'table' | 'ask'>
}

export interface ProxyOptions {
  services: ReadonlyMap<string, ProxiedService>
  authenticator: Authenticator
  /** Returns the internal token for a service. */
  tokenFor(audience: string, principal?: Principal): Promise<string>
  clientAddress(request: IncomingMessage): string
  sessionCookie: Pick<SessionCookie, 'requireSignIn' | 'setCookies'>
  ssoCookie: OwnCookie
  /** For public routes. `hookLimiter` is for those outside the API and those whose response may take long. */
  loginLimiter: GuestLimiter
  hookLimiter: GuestLimiter
  /** In bytes: bodies of requests without a token, which are buffered before they use a slot. */
  bodyLimiter: GuestLimiter
  /** Maximum concurrent requests of workspaces and keys. */
  budgets: Budgets
  /** Time limit of a body: see `BodyRules`. */
  bodyTimeoutMs: number
  /** Counts an anonymous request; throws `rate_limited`. */
  limit(clientAddress: string): RateHeaders
  /** Bytes sent to a network without authentication. */
  anonymousBytes: RateLimiter
  /** Bytes sent to a workspace, or to a user outside of any. */
  answerBytes: RateLimiter
  /** Determines the origin a request belongs to. */
  belongs: ReturnType<typeof createOriginRouter>
  /** Handles requests that are not forwarded. Their X-Request-ID header contains the request id. */
  own: RequestListener
  recorderFor: RecorderFor
  tracing: Tracing
  log: Logger
}

/** By network. */
type GuestLimiter = Pick<ConcurrencyLimiter, 'acquire'>

/** The steps of every request: route, authentication, body limit, service. */
export function createProxy(options: ProxyOptions): RequestListener {
  const { services, authenticator, clientAddress, tokenFor, limit } = options
  const {
    sessionCookie,
    ssoCookie,
    loginLimiter,
    hookLimiter,
    bodyLimiter,
    budgets,
    bodyTimeoutMs,
    belongs,
    own,
    recorderFor,
    tracing,
    log,
  } = options

  /** Throws `service_unavailable` if the service's routes are not known yet; the request then counts as anonymous. */
  const learnTable = async (exchange: Exchange, { routes }: ProxiedService) => {
    await routes.ask()
    const table = routes.table()
    if (table) return table
    exchange.headers = limit(clientAddress(exchange.req))
    throw serviceUnavailable()
  }

  /**
   * Returns the function that counts the bytes of a response, by workspace, user or network; `undefined` for anonymous
   * requests other than reads. Not used for streams, which have separate limits. Throws `rate_limited` if too many
   * bytes were sent.
   */
  const limitBytes = (exchange: Exchange, principal: Principal | undefined, address: string) => {
    const { method } = exchange.req
    if (principal === undefined && method !== 'GET' && method !== 'HEAD') return undefined
    const [limiter, key] = principal
      ? [options.answerBytes, principal.workspaceId ?? principal.userId]
      : [options.anonymousBytes, parseNetwork(address)]
    exchange.headers = joinRateHeaders(exchange.headers ?? {}, limiter.check(key))
    return (bytes: number) => limiter.spend(key, bytes)
  }

  const rechecksOf = (caller: Caller, principal: Principal): Rechecks => ({
    begin: () => authenticator.recheck(caller, principal),
    follow: (refuse) => authenticator.follow(caller, principal, refuse),
  })

  const pass = async (exchange: Exchange, traced: Traced, target: Target, service: ProxiedService) => {
    const { req, res, requestId } = exchange
    const slots = createRequestSlots()
    const logAnswer = () => logRequest(exchange, res.writableFinished ? res.statusCode : 499)
    const fail = (error: unknown) => {
      slots.release()
      res.off('close', logAnswer)
      sendError(exchange, error)
      discardRest(req)
    }
    try {
      const table = service.routes.table() ?? (await learnTable(exchange, service))
      const rule = findRouteRule(table, req.method ?? '', target)
      traced.rename(rule.operationId)
      exchange.record = recorderFor(rule, req.method ?? '')
      const address = clientAddress(req)
      const caller = { request: req, clientAddress: address }
      const principal = await authenticator.authenticate(caller, rule.access, (headers) => {
        exchange.headers = headers
      })
      if (principal) acquireSlots(budgets, slots, { principal, rule, req })
      const isPublic = principal === undefined
      if (rule.operationId === browserSignIn || isSsoStart(rule)) sessionCookie.requireSignIn(req)
      const spendBytes = rule.waits ? undefined : limitBytes(exchange, principal, address)
      const whole = isPublic
        ? (bytes: number) => slots.add(bodyLimiter.acquire(parseNetwork(address), bytes))
        : undefined
      const rules = { limitBytes: rule.bodyLimitBytes, timeoutMs: bodyTimeoutMs, whole }
      const body = await requestBody(req, rules)
      const token = await tokenFor(target.service, principal)
      if (body === undefined || res.destroyed) {
        slots.release()
        return logAnswer()
      }
      // A request uses a slot only once its body is complete.
      // A request that waits for another party, such as an identity provider, uses no login slot.
      if (isPublic)
        slots.add(
          (target.isOfOrigin || rule.waits ? hookLimiter : loginLimiter).acquire(parseNetwork(address)),
        )
      const headers = requestHeaders(req)
      headers.push('authorization', `Bearer ${token}`, 'x-request-id', requestId, 'x-forwarded-for', address)
      if (traced.traceparent !== undefined) headers.push('traceparent', traced.traceparent)
      const guestToken = isPublic && rule.access === 'guest' ? parseBearerToken(req) : undefined
      if (guestToken !== undefined) headers.push(guestTokenHeader, guestToken)
      const begun = isSsoCallback(rule) ? ssoCookie.read(req) : undefined
      if (begun !== undefined) headers.push(ssoCookieHeader, begun)
      const answerHeaders = { ...exchange.headers, 'x-request-id': requestId }
      res.once('close', logAnswer)
      // A logout with a Bearer token does not affect the browser's session.
      const setsCookie = target.service === 'settings' && req.headers.authorization === undefined
      const upstream = upstreamFor(service, rule, req)
      const rechecks = rule.waits && principal ? rechecksOf(caller, principal) : undefined
      upstream.forward({
        req,
        res,
        path: target.path,
        headers,
        body,
        answerHeaders,
        setCookies: setsCookie
          ? (header, text) =>
              header === ssoCookieHeader
                ? [ssoCookie.setCookie(req, text)]
                : sessionCookie.setCookies(req, text)
          : undefined,
        rechecks,
        onBytes: spendBytes,
        fail,
        over: slots.release,
      })
    } catch (error) {
      fail(error)
    }
  }

  /** These requests count against their address like other anonymous ones, except probes by monitoring. */
  const answerOwn = (exchange: Exchange, place: OriginDecision = 'here') => {
    const { req, res, requestId } = exchange
    req.headers['x-request-id'] = requestId
    try {
      if (!isProbe(req.url)) {
        for (const [name, value] of Object.entries(limit(clientAddress(req)))) res.setHeader(name, value)
      }
      const { startedAt } = exchange
      if (!isProbe(req.url))
        res.once('close', () => exchange.record?.(res.statusCode, performance.now() - startedAt))
      if (typeof place === 'object') {
        res.writeHead(307, { ...securityHeaders, location: place.to, 'cache-control': 'no-store' }).end()
        discardRest(req)
      } else if (place === 'nowhere')
        throw routeNotFound(req.method ?? '', (req.url ?? '').replace(/\?.*/, '').replace(apiPrefix, ''))
      else own(req, res)
    } catch (error) {
      sendError(exchange, error)
      discardRest(req)
    }
  }

  return (req, res) => {
    const requestId = requestIdFrom(req.headers['x-request-id'])
    const target = resolveTarget(req.url ?? '')
    const service = target === null ? undefined : services.get(target.service)
    const route = target === null || service === undefined ? 'gateway' : target.service
    // The path may contain data that must not be logged; the service logs its route pattern under the same request id.
    const exchange: Exchange = { req, res, requestId, route, startedAt: performance.now(), log }
    exchange.record = recorderFor(noOperation, req.method ?? '')
    const place = isProbe(req.url) ? 'here' : belongs(req, target)
    if (place !== 'here' || target === null || service === undefined) answerOwn(exchange, place)
    else {
      const traced = tracing.enter('request', req.headers.traceparent?.toString(), { kind: 'server' })
      followExchange(exchange, traced)
      void pass(exchange, traced, target, service)
    }
  }
}

function upstreamFor(
  { quick, waiting, feeds }: ProxiedService,
  { waits, isFeed }: Pick<OperationRule, 'waits' | 'isFeed'>,
  { method }: IncomingMessage,
): Upstream {
  if (isFeed && method === 'GET') return feeds
  return waits ? waiting : quick
}

const isProbe = (url: string | undefined) => url === '/healthz' || url === '/readyz'
