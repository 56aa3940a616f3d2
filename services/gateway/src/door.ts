import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Principal } from '@opsplane/contracts'
import { requestIdFrom, toApiError } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { Authenticator } from './authenticate.js'
import { requestHeaders } from './forwarded-headers.js'
import { discardRest, requestBody } from './request-body.js'
import { sendError } from './send-error.js'
import { resolveTarget, type Target } from './target.js'
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
  /** Answers what is not passed on. */
  own: RequestListener
  log: Logger
  monotonicMs: () => number
}

/** What every request passes: route, admission, body limit, service. */
export function createDoor(options: DoorOptions): RequestListener {
  const { services, authenticator, log, monotonicMs } = options

  const pass = async (
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    connections: ServiceConnections,
    requestId: string,
  ): Promise<void> => {
    const answerHeaders: Record<string, string> = { 'x-request-id': requestId }
    const fail = (error: unknown) => refuse(response, error, answerHeaders)
    try {
      const address = options.clientAddress(request)
      const { principal, rateHeaders } = await authenticator.admit(request, target.access, address)
      Object.assign(answerHeaders, rateHeaders)
      const body = await requestBody(request, target.bodyLimitBytes)
      const token = await options.tokenFor(target.service, principal)
      if (body === undefined || response.destroyed) return
      const headers = requestHeaders(request.rawHeaders, request.headers.connection)
      headers.push('authorization', `Bearer ${token}`, 'x-request-id', requestId, 'x-forwarded-for', address)
      const length = request.headers['content-length']
      if (body !== null && length !== undefined) headers.push('content-length', length)
      const upstream = target.waits ? connections.waiting : connections.quick
      upstream.forward({ request, response, path: target.path, headers, body, answerHeaders, fail })
    } catch (error) {
      fail(error)
    }
  }

  /** Why the gateway itself answered 5xx, for the log line. */
  const failures = new WeakMap<ServerResponse, unknown>()

  const refuse = (response: ServerResponse, thrown: unknown, headers: Record<string, string>) => {
    const error = toApiError(thrown)
    if (error.status >= 500) failures.set(response, error.cause ?? error)
    sendError(response, error, headers)
    discardRest(response.req)
  }

  const logWhenDone = (request: IncomingMessage, response: ServerResponse, requestId: string) => {
    const startedAt = monotonicMs()
    response.once('close', () => {
      const status = response.statusCode
      if (status < 500 && !log.isLevelEnabled('debug')) return
      const line = {
        requestId,
        method: request.method,
        path: request.url?.split('?', 1)[0],
        status,
        complete: response.writableFinished,
        durationMs: Math.round(monotonicMs() - startedAt),
        err: failures.get(response),
      }
      if (status >= 500) log.warn(line, 'request failed')
      else log.debug(line, 'request')
    })
  }

  return (request, response) => {
    const requestId = requestIdFrom(request.headers['x-request-id'])
    logWhenDone(request, response, requestId)
    const target = resolveTarget(request.method ?? '', request.url ?? '')
    const connections = target === null ? undefined : services.get(target.service)
    if (target === null || connections === undefined) {
      request.headers['x-request-id'] = requestId
      options.own(request, response)
    } else void pass(request, response, target, connections, requestId)
  }
}
