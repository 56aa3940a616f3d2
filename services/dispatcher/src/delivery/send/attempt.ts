import { type AttemptError, hostOfUrl, referencedSecrets } from '@opsplane/contracts'
import {
  type Outbound,
  OutboundError,
  type OutboundResponse,
  type OutboundTimings,
  type ResolveSecrets,
  type SecretUser,
  type SignCause,
} from '@opsplane/http'
import { type Budgets, retryAfterMs } from '@opsplane/runtime'
import type { Credentials } from '../../webhook/sealing.js'
import type { Target } from '../../webhook/target.js'
import type { AttemptOutcome } from '../domain.js'
import {
  buildRequestHeaders,
  HeadersError,
  type RequestHeaders,
  secretRefusedError,
} from './request-headers.js'
import { toStoredResponse } from './stored-response.js'

/** The stored data of one request. */
export interface AttemptRecord {
  startedAt: string
  durationMs: number
  url: string
  requestHeaders: Record<string, string>
  response: { status: number; headers: Record<string, string>; body: string; truncated: boolean } | null
  error: AttemptError | null
  /** Null if nothing was sent. */
  timings: OutboundTimings | null
}

export type AttemptResult =
  | { kind: 'attempted'; outcome: AttemptOutcome; record: AttemptRecord }
  /** Nothing was sent, for a reason not caused by the endpoint. */
  | { kind: 'postponed'; reason: unknown }

export interface AttemptDependencies {
  outbound: Outbound
  credentials(target: Target): Promise<Credentials>
  resolveSecrets: ResolveSecrets
  budgets: Pick<Budgets, 'spend'>
  signCause: SignCause
  nowMs(): number
}

const maxResponseBytes = 64 * 1024

/** The content to send: the event's id and type, and the body as text. */
export interface AttemptContent {
  id: string
  type: string
  text: string
  /** The run or execution that caused the event. */
  cause?: string | undefined
  /** Trace context of the attempt's span, if it is traced. */
  traceparent?: string
}

export type MakeAttempt = (
  target: Target,
  content: AttemptContent,
  signal: AbortSignal,
  /** Called after the secrets are resolved, which may take long; returns whether the attempt may still be sent. */
  isInTime?: () => boolean,
) => Promise<AttemptResult>

/** Makes one request of a delivery: resolves secrets, signs, sends, and redacts the stored data. */
export function createAttempt(dependencies: AttemptDependencies): MakeAttempt {
  const { outbound, nowMs } = dependencies

  const prepare = async (
    target: Target,
    { id, type, text, cause, traceparent }: AttemptContent,
  ): Promise<RequestHeaders> => {
    const credentials = await dependencies.credentials(target)
    const names = Object.values(credentials.headers).flatMap(referencedSecrets)
    const { values, refused } = await dependencies.resolveSecrets(secretUser(target), names)
    for (const [name, reason] of Object.entries(refused)) throw secretRefusedError(name, reason)
    const timestamp = Math.floor(nowMs() / 1_000)
    return buildRequestHeaders(credentials, values, {
      ...{ eventId: id, eventType: type, body: text, timestamp, traceparent },
      causeHeaders: dependencies.signCause(cause),
    })
  }

  return async (target, content, signal, isInTime = () => true) => {
    const startedMs = nowMs()
    let timings: OutboundTimings | null = null
    const record = (part: Partial<AttemptRecord>): AttemptRecord => ({
      startedAt: new Date(startedMs).toISOString(),
      durationMs: Math.max(0, Math.round(nowMs() - startedMs)),
      url: target.url,
      requestHeaders: {},
      response: null,
      error: null,
      timings,
      ...part,
    })
    const failed = (error: AttemptError, headers: Record<string, string>): AttemptResult => ({
      kind: 'attempted',
      outcome: { kind: 'failed', error },
      record: record({ error, requestHeaders: headers }),
    })

    let headers: RequestHeaders
    try {
      headers = await prepare(target, content)
      if (!isInTime()) return { kind: 'postponed', reason: new Error('its secrets were too long in coming') }
      dependencies.budgets.spend('egressBytesPerMinute', target.tenant, Buffer.byteLength(content.text))
    } catch (reason) {
      if (!(reason instanceof HeadersError)) return { kind: 'postponed', reason }
      return failed({ kind: reason.kind, message: reason.message }, {})
    }
    try {
      const { timeoutMs, url } = target
      const request = {
        url,
        method: 'POST' as const,
        headers: headers.sent,
        body: content.text,
        timeoutMs,
        maxResponseBytes,
        // Receivers recognise repeated requests by the message id.
        repeatable: true,
        statusDecides: true,
        measured(measured: OutboundTimings) {
          timings = measured
        },
      }
      const answer = await outbound.request({ ...request, signal })
      return buildAnsweredResult(answer, headers, record)
    } catch (error) {
      if (signal.aborted || !(error instanceof OutboundError)) return { kind: 'postponed', reason: error }
      return failed({ kind: error.kind, message: error.message }, headers.kept)
    }
  }

  function buildAnsweredResult(
    answer: OutboundResponse,
    headers: RequestHeaders,
    record: (part: Partial<AttemptRecord>) => AttemptRecord,
  ): AttemptResult {
    const { status, truncated } = answer
    const accepted = status >= 200 && status < 300
    return {
      kind: 'attempted',
      outcome: {
        kind: 'answered',
        status,
        retryAfterMs: retryAfterMs(answer.headers['retry-after'], nowMs()),
      },
      record: record({
        requestHeaders: headers.kept,
        response: {
          status,
          ...toStoredResponse(answer, headers.secrets),
          truncated,
        },
        error: accepted ? null : { kind: 'status', message: `The endpoint answered ${status}.` },
      }),
    }
  }
}

function secretUser({ id, tenant, ownerId: userId, url }: Target): SecretUser {
  return { tenant, userId, consumer: `webhook/${id}`, host: hostOfUrl(url) }
}
