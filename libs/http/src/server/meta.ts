import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { ApiError, type Principal } from '@opsplane/contracts'
import type { Clock, Logger } from '@opsplane/runtime'
import type { Caller } from '../calls/authenticate.js'
import { requireFreshSignIn } from '../calls/fresh-sign-in.js'
import type { RequestMeta, Route } from '../route/route.js'
import type { Exchange } from './exchange.js'

/**
 * The metadata of a request for its handler. `signal` and `log` are created on first use, by functions:
 * accessors would give each object its own hidden class, which V8 keeps, with all it references, until
 * the next full garbage collection (ADR 115).
 */
export function createMeta(route: Route, exchange: Exchange, caller: Caller, clock: Clock): RequestMeta {
  const { req, res, requestId } = exchange
  let signal: AbortSignal | undefined
  let log: Logger | undefined
  const now = clock.now()
  requireWholeLogin(route, caller.principal)
  if (route.stepUp) requireFreshSignIn(caller.principal, now)
  const meta: RequestMeta = {
    tenant: caller.tenant,
    actor: caller.principal.actor,
    now,
    requestId,
    principal: caller.principal,
    clientToken: caller.clientToken,
    delegate: caller.delegate,
    repetitionKey: undefined,
    traceparent: exchange.traceparent,
    source: caller.isClient ? sourceOf(req.headers) : null,
    ...(caller.causationId !== undefined && { causationId: caller.causationId }),
    ...(caller.causationDepth !== undefined && { causationDepth: caller.causationDepth }),
    ...(caller.callId !== undefined && { callId: caller.callId }),
    header: (name) => [req.headers[name.toLowerCase()]].flat()[0],
    answerHeader(name, value) {
      exchange.headers = { ...exchange.headers, [name]: value }
    },
    signal() {
      signal ??= abortOnClose(res)
      return signal
    },
    log() {
      log ??= exchange.log.child({ requestId })
      return log
    },
  }
  const { 'if-match': ifMatch } = req.headers
  if (ifMatch !== undefined && ifMatch !== '*' && route.ifMatch) {
    meta.expectedVersion = expectedVersion(ifMatch)
  }
  return meta
}

/** Throws `forbidden` if a session limited to one workspace tries to change a login. */
function requireWholeLogin(
  { scope, workspace, method, ofSession }: Route,
  { onlyWorkspaceId }: Principal,
): void {
  if (onlyWorkspaceId === undefined || ofSession || method === 'get') return
  if (scope !== 'authenticated' || workspace !== 'none') return
  throw new ApiError(
    'forbidden',
    'This session is for the workspace of its identity provider alone, and changes nothing of your login. Sign in by a password or passkey ' +
      'of your own.',
  )
}

const maxUserAgent = 256

/** The client the gateway forwards a request for; `null` for the gateway's own requests. */
function sourceOf({ 'x-forwarded-for': forwarded, 'user-agent': agent = '' }: IncomingHttpHeaders) {
  const [first = ''] = String(forwarded ?? '').split(',', 1)
  const address = first.trim()
  if (address === '') return null
  return { address, userAgent: agent.replaceAll(/\p{Cc}/gu, '').slice(0, maxUserAgent) }
}

function abortOnClose(res: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (res.destroyed) controller.abort()
  else {
    res.once('close', () => {
      if (!res.writableFinished) controller.abort()
    })
  }
  return controller.signal
}

/** A tag of another server, or a weak one, matches no version: the response is 412, as for a stale one. */
const matchesNothing = -1

function expectedVersion(header: string): number {
  const version = /^"(\d{1,15})"$/.exec(header)?.[1]
  if (version !== undefined) return Number(version)
  if (/^(?:W\/)?"[^"]*"$/.test(header)) return matchesNothing
  throw new ApiError('validation_failed', 'If-Match must be one entity tag, such as "3", or *.', {
    details: [
      { in: 'header', path: '/if-match', code: 'invalid_format', message: 'must be one entity tag or *' },
    ],
  })
}
