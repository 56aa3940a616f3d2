import { INVALID_SPANID, INVALID_TRACEID, type SpanContext, TraceFlags } from '@opentelemetry/api'

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const longest = 128

/**
 * Parses a `traceparent` as defined by W3C Trace Context; `undefined` if it is invalid.
 * `sampled`: the sender traces the request.
 */
export function parseTraceparent(
  text: string | null | undefined,
): { context: SpanContext; sampled: boolean } | undefined {
  if (!text || text.length > longest) return undefined
  const [, version, traceId = '', spanId = '', flags = '', rest] = form.exec(text) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (traceId === INVALID_TRACEID || spanId === INVALID_SPANID) return undefined
  const sampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0
  const context = { traceId, spanId, isRemote: true, traceFlags: TraceFlags.SAMPLED }
  return { context, sampled }
}

export const formatTraceparent = ({ traceId, spanId }: Pick<SpanContext, 'traceId' | 'spanId'>): string =>
  `00-${traceId}-${spanId}-01`
