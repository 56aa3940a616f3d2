import type { IncomingMessage, RequestListener } from 'node:http'
import type { Principal } from '@opsplane/contracts'
import { type Exchange, logRequest, requestIdFrom, sendError } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { Authenticator } from './authenticate.js'
import { requestHeaders } from './forwarded-headers.js'
import { discardRest, requestBody } from './request-body.js'
import { resolveTarget, type Target } from './target.js'
import type { Turnstile } from './turnstile.js'
import type { Upstream } from './upstream.js'

/** The connections to one service: quick requests do not queue behind long-polls. */
export interface ServiceConnections {
  quick: Upstream
  waiting: Upstream
}

export interface DoorOptions {
  services: ReadonlyMap<string, ServiceConnections>
  authenticator: Authenticator
  /** The internal token for a service. */
  tokenFor(audience: string, principal?: Principal): Promise<string>
  clientAddress(request: IncomingMessage): string
  /** For public routes. */
  turnstile: Turnstile
  /** Counts an anonymous request; throws `rate_limited`. */
  limit(clientAddress: string): Record<string, string>
  /** Answers what is not passed on. Its requests carry their id in X-Request-ID. */
  own: RequestListener
  log: Logger
}

/** What every request passes: route, admission, body limit, service. */
export function createDoor(options: DoorOptions): RequestListener {
  const { services, authenticator, clientAddress, tokenFor, limit, turnstile, own, log } = options

  const pass = async (exchange: Exchange, target: Target, connections: ServiceConnections) => {
    const { req, res, requestId } = exchange
    const logAnswer = () => logRequest(exchange, res.writableFinished ? res.statusCode : 499)
    const fail = (error: unknown) => {
      res.off('close', logAnswer)
      sendError(exchange, error)
      discardRest(req)
    }
    try {
      const address = clientAddress(req)
      const caller = { request: req, clientAddress: address }
      const principal = await authenticator.admit(caller, target.access, (headers) => {
        exchange.headers = headers
      })
      if (target.access === 'public') turnstile.enter(address, res)
      const token = await tokenFor(target.service, principal)
      const body = await requestBody(req, target.bodyLimitBytes)
      if (body === undefined || res.destroyed) return logAnswer()
      const headers = requestHeaders(req)
      headers.push('authorization', `Bearer ${token}`, 'x-request-id', requestId, 'x-forwarded-for', address)
      const answerHeaders = { ...exchange.headers, 'x-request-id': requestId }
      res.once('close', logAnswer)
      const upstream = target.waits ? connections.waiting : connections.quick
      const confirm = target.waits && principal ? () => authenticator.confirm(caller, principal) : undefined
      upstream.forward({ req, res, path: target.path, headers, body, answerHeaders, confirm, fail })
    } catch (error) {
      fail(error)
    }
  }

  /** Anonymous as they are, also these requests count against their address; what watches the gateway does not. */
  const answerOwn = (exchange: Exchange) => {
    const { req, res, requestId } = exchange
    req.headers['x-request-id'] = requestId
    try {
      if (!isProbe(req.url)) {
        for (const [name, value] of Object.entries(limit(clientAddress(req)))) res.setHeader(name, value)
      }
      own(req, res)
    } catch (error) {
      sendError(exchange, error)
      discardRest(req)
    }
  }

  return (req, res) => {
    const requestId = requestIdFrom(req.headers['x-request-id'])
    const target = resolveTarget(req.method ?? '', req.url ?? '')
    const connections = target === null ? undefined : services.get(target.service)
    const route = target === null || connections === undefined ? 'gateway' : target.service
    // The path may hold what is not for logs; the service logs its pattern under the same request id.
    const exchange = { req, res, requestId, route, startedAt: performance.now(), log }
    if (target === null || connections === undefined) answerOwn(exchange)
    else void pass(exchange, target, connections)
  }
}

const isProbe = (url: string | undefined) => url === '/healthz' || url === '/readyz'
