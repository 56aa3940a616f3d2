import type { IncomingMessage, ServerResponse } from 'node:http'
import { stringifyExact } from '@opsplane/contracts'
import type { Logger } from '@opsplane/runtime'
import { type Traced, traceFields } from '@opsplane/telemetry'
import { readCachedJson } from '../documents/json-cache.js'
import { requestIdFrom } from './request-id.js'
import type { RequestRecorder } from './request-metrics.js'
import { securityHeaders } from './security-headers.js'

/** One request and its response. */
export interface Exchange {
  req: IncomingMessage
  res: ServerResponse
  requestId: string
  /** The path pattern, so that log lines can be grouped. */
  route: string
  startedAt: number
  log: Logger
  workspaceId?: string
  /** Trace context of its span, if traced. */
  traceparent?: string | undefined
  /** Headers of the response, whatever its status. */
  headers?: Record<string, string>
  /** Records the response in the metrics; called once. */
  record?: RequestRecorder | undefined
}

export interface Answer {
  status: number
  /** The envelope without `meta`; `null` for no body. */
  body: object | null
  /** `body` is the complete response: no `meta` is added. */
  bare?: boolean
  headers?: Record<string, string>
}

export function beginExchange(
  req: IncomingMessage,
  res: ServerResponse,
  route: string,
  log: Logger,
): Exchange {
  const requestId = requestIdFrom(req.headers['x-request-id'])
  return { req, res, requestId, route, startedAt: performance.now(), log }
}

/** Attaches the exchange to a span, if traced: its log lines contain the trace, and the span ends with the response. */
export function followExchange(exchange: Exchange, traced: Traced): void {
  const { traceparent } = traced
  if (traceparent === undefined) return
  const { res } = exchange
  exchange.traceparent = traceparent
  exchange.log = exchange.log.child(traceFields(traceparent))
  res.once('close', () => traced.end(res.statusCode >= 500 ? res.statusCode : undefined))
}

const constantHeaders = Object.entries(securityHeaders).flat()

/** The headers of every response. */
export const headerLines = ({ requestId }: Exchange): string[] => [
  ...constantHeaders,
  'X-Request-ID',
  requestId,
]

/** A short text is sent in one write with the headers; a long one is encoded much faster separately. */
const longText = 65_536

function written(body: object): string | Buffer {
  const bytes = readCachedJson(body)
  if (bytes) return bytes
  const text = stringifyExact(body)
  return text.length > longText ? Buffer.from(text) : text
}

/** Writes headers and body together and logs the request. */
export function send(exchange: Exchange, { status, body, bare, headers }: Answer): void {
  const { res, requestId } = exchange
  const payload = body === null ? '' : written(bare ? body : { ...body, meta: { requestId } })
  const lines = headerLines(exchange)
  if (body !== null) {
    lines.push('Content-Type', 'application/json; charset=utf-8')
    lines.push('Content-Length', String(Buffer.byteLength(payload)))
  }
  const further = exchange.headers ? { ...exchange.headers, ...headers } : headers
  for (const name in further) lines.push(name, further[name] ?? '')
  res.writeHead(status, lines)
  res.end(payload)
  logRequest(exchange, status)
}

/** Records and logs the end of a request. Status 499: the client disconnected before the response. */
export function logRequest(exchange: Exchange, status: number): void {
  const { log, req, requestId, route, workspaceId, startedAt, record } = exchange
  exchange.record = undefined
  record?.(status, performance.now() - startedAt)
  const level = status >= 500 ? 'info' : 'debug'
  if (!log.isLevelEnabled(level)) return
  const durationMs = Math.round((performance.now() - startedAt) * 100) / 100
  log[level]({ requestId, method: req.method, route, status, durationMs, workspaceId }, 'request')
}
