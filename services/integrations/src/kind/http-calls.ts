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
  /** Whether it may be sent again where a kept connection turns out to be closed. */
  repeatable: boolean
  /** 1 MiB unless given. */
  maxResponseBytes?: number
  /** How many redirects within the origin are followed; none unless given. */
  redirects?: number
}

/** Sends one request within the deadline of the call. Throws CallFailure; any answer is one. */
export type SendHttp = (
  call: Pick<Call, 'signal' | 'remainingMs' | 'cause' | 'secrets'>,
  request: HttpRequest,
) => Promise<OutboundResponse>

const usualResponseBytes = 1024 * 1024
const redirections = new Set([301, 302, 303, 307, 308])

/** The one way out for kinds that speak HTTP: every request, and each redirect of it, goes through the guard. */
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

/** Throws CallFailure for headers that cannot be sent, naming the secrets in it. */
function refuseUnsendable(headers: Record<string, string>, secrets: Call['secrets']): void {
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerFault({ [name]: value }, {})
    if (fault === undefined) continue
    const names = secrets.namesIn(value).map((secret) => `{{secrets.${secret}}}`)
    const from = names.length > 0 ? ` It is made of ${names.join(' and ')}.` : ''
    throw new CallFailure('secret', `${fault}${from}`, { sent: false })
  }
}

/** Credentials never go to another origin, so neither does the request. */
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

/** What a failure of the guard means for an invocation; anything else stays what it is. */
export function toCallFailure(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error
  const { kind, sent } = kinds[error.kind]
  return new CallFailure(kind, error.message, { sent, cause: error })
}

const keptOfAnswer = 16 * 1024

/** The failure an answer of 400 and above is. 429 says that nothing was done. */
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
