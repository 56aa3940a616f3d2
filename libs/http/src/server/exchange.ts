import type { IncomingMessage, ServerResponse } from 'node:http'
import { stringifyExact } from '@opsplane/contracts'
import type { Logger } from '@opsplane/runtime'
import { type Traced, traceFields } from '@opsplane/telemetry'
import { readCachedJson } from '../documents/json-cache.js'
import { requestIdFrom } from './request-id.js'
import type { RequestRecorder } from './request-metrics.js'
import { securityHeaders } from './security-headers.js'

/** One request and its answer. */
export interface Exchange {
  req: IncomingMessage
  res: ServerResponse
  requestId: string
  /** The pattern, so that log lines group. */
  route: string
  startedAt: number
  log: Logger
  workspaceId?: string
  /** Of its span, where it is traced. */
  traceparent?: string | undefined
  /** Of the answer, whatever it is. */
  headers?: Record<string, string>
  /** Takes note of the answer; once. */
  record?: RequestRecorder | undefined
}

export interface Answer {
  status: number
  /** The envelope without `meta`; null for no body. */
  body: object | null
  /** `body` is the whole answer: it gets no `meta`. */
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

/** Makes it part of a span, where that is followed: its log lines name it, and the span ends with the answer. */
export function followExchange(exchange: Exchange, traced: Traced): void {
  const { traceparent } = traced
  if (traceparent === undefined) return
  const { res } = exchange
  exchange.traceparent = traceparent
  exchange.log = exchange.log.child(traceFields(traceparent))
  res.once('close', () => traced.end(res.statusCode >= 500 ? res.statusCode : undefined))
}

const constantHeaders = Object.entries(securityHeaders).flat()

/** The headers of every answer. */
export const headerLines = ({ requestId }: Exchange): string[] => [
  ...constantHeaders,
  'X-Request-ID',
  requestId,
]

/** A short text goes out in one write with the headers; a long one is encoded far faster by itself. */
const longText = 65_536

function written(body: object): string | Buffer {
  const bytes = readCachedJson(body)
  if (bytes) return bytes
  const text = stringifyExact(body)
  return text.length > longText ? Buffer.from(text) : text
}

/** Writes headers and body at once and logs the request. */
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

/** Notes and logs that it is over. Status 499: the client left before it could be answered. */
export function logRequest(exchange: Exchange, status: number): void {
  const { log, req, requestId, route, workspaceId, startedAt, record } = exchange
  exchange.record = undefined
  record?.(status, performance.now() - startedAt)
  const level = status >= 500 ? 'info' : 'debug'
  if (!log.isLevelEnabled(level)) return
  const durationMs = Math.round((performance.now() - startedAt) * 100) / 100
  log[level]({ requestId, method: req.method, route, status, durationMs, workspaceId }, 'request')
}
