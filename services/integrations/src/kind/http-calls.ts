import {
  answerText,
  describeOutboundError,
  headerFault,
  OutboundError,
  type OutboundErrorKind,
  type OutboundHttp,
  type OutboundResponse,
  type SignCause,
} from '@opsplane/http'
import { retryAfterMs } from '@opsplane/runtime'
import { CallFailure, type FailureKind } from './call-failure.js'
import type { Call } from './kind.js'

export interface HttpRequest {
  method: string
  url: URL
  headers: Record<string, string>
  body?: string
  /** Whether the request may be sent again if a kept-alive connection turns out to be closed. */
  repeatable: boolean
  /** Default 1 MiB. */
  maxResponseBytes?: number
  /** Maximum number of redirects followed within the origin; default 0. */
  redirects?: number
}

/** Sends one request within the deadline of the call. Throws `CallFailure`, but returns a response of any status. */
export type SendHttp = (
  call: Pick<Call, 'signal' | 'remainingMs' | 'cause' | 'secrets'>,
  request: HttpRequest,
) => Promise<OutboundResponse>

const usualResponseBytes = 1024 * 1024
const redirections = new Set([301, 302, 303, 307, 308])

/** The only way out for kinds that use HTTP: every request, and each of its redirects, passes the outbound guard. */
export function createSendHttp(http: Pick<OutboundHttp, 'request'>, signCause: SignCause): SendHttp {
  const send: SendHttp = async (call, request) => {
    const { method, url, headers, body, repeatable, maxResponseBytes = usualResponseBytes } = request
    refuseUnsendable(headers, call.secrets)
    const answer = await http
      .request({
        ...{ url: url.href, method, repeatable, maxResponseBytes, signal: call.signal },
        headers: { ...headers, ...signCause(call.cause) },
        timeoutMs: call.remainingMs(),
        ...(body !== undefined && { body }),
      })
      .then(describeOutboundError)
      .catch((error: unknown) => {
        throw call.signal.aborted ? call.signal.reason : toCallFailure(error)
      })
    const next = redirection(request, answer)
    return next === undefined ? answer : send(call, next)
  }
  return send
}

/** Throws `CallFailure` for headers that cannot be sent, naming the secrets in them. */
function refuseUnsendable(headers: Record<string, string>, secrets: Call['secrets']): void {
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerFault({ [name]: value }, {})
    if (fault === undefined) continue
    const names = secrets.namesIn(value).map((secret) => `{{secrets.${secret}}}`)
    const from = names.length > 0 ? ` It is made of ${names.join(' and ')}.` : ''
    throw new CallFailure('secret', `${fault}${from}`, { sent: false })
  }
}

/** The request is not redirected to another origin, because it contains credentials. */
function redirection(request: HttpRequest, { status, headers }: OutboundResponse): HttpRequest | undefined {
  const { redirects = 0, url, method } = request
  const { location } = headers
  if (!redirections.has(status) || location === undefined || redirects === 0) return undefined
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined
  if (target?.origin !== url.origin)
    throw new CallFailure('answered', 'The redirect leads to another origin, so it is not followed.', {
      ...{ sent: true, status },
    })
  const keeps = status === 307 || status === 308 || method === 'GET' || method === 'HEAD'
  const { body: _, ...withoutBody } = request
  const next = keeps ? request : { ...withoutBody, method: 'GET', repeatable: true }
  return { ...next, url: target, redirects: redirects - 1 }
}

const kinds: Record<OutboundErrorKind, { kind: FailureKind; sent: boolean }> = {
  blocked_address: { kind: 'blocked', sent: false },
  dns: { kind: 'unreachable', sent: false },
  connect: { kind: 'unreachable', sent: false },
  tls: { kind: 'unreachable', sent: false },
  timeout: { kind: 'timeout', sent: true },
  reset: { kind: 'unreachable', sent: true },
  protocol: { kind: 'protocol', sent: true },
}

/** Converts a failure of the outbound guard to a `CallFailure`; returns any other error unchanged. */
export function toCallFailure(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error
  const { kind, sent } = kinds[error.kind]
  return new CallFailure(kind, error.message, { sent, cause: error })
}

const keptOfAnswer = 16 * 1024

/** The failure for a response of 400 or above. 429 means that nothing was done. */
export function answeredFailure(answer: OutboundResponse): CallFailure {
  const { status, headers } = answer
  const retryAfter = retryAfterMs(headers['retry-after'], Date.now())
  return new CallFailure('answered', `The answer was ${status}.`, {
    sent: status !== 429,
    status,
    body: answerText(answer, keptOfAnswer).body ?? '',
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
  })
}
