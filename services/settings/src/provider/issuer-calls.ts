import type { Outbound } from '@opsplane/http'
import { OutboundError } from '@opsplane/http'

/** The part of `fetch` that the client of a provider needs. */
export type IssuerFetch = (
  url: string,
  options: { method?: string; headers?: ConstructorParameters<typeof Headers>[0]; body?: unknown },
) => Promise<Response>

/** Deadline for all calls of one sign-in together, in milliseconds. */
const allCallsMs = 10_000
/** Maximum size of a discovery document, a key set or a token response. */
const maxAnswerBytes = 512 * 1024

/** Statuses whose responses have no body. */
const bodiless = new Set([101, 103, 204, 205, 304])

/**
 * Calls a provider through the outbound guard. All calls share one deadline, which starts now. Redirects are
 * returned, not followed.
 */
export function issuerFetch(outbound: Pick<Outbound, 'request'>): IssuerFetch {
  const until = performance.now() + allCallsMs
  return async (url, { method = 'GET', headers, body }) => {
    const answer = await outbound.request({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(headers)),
      ...(body !== undefined && body !== null && { body: String(body) }),
      timeoutMs: Math.max(1, until - performance.now()),
      maxResponseBytes: maxAnswerBytes,
      repeatable: method === 'GET',
    })
    if (answer.truncated || answer.isBroken)
      throw new OutboundError('protocol', 'The answer is longer than any of an identity provider may be.')
    const { 'content-type': type = 'application/octet-stream' } = answer.headers
    const content = bodiless.has(answer.status) ? null : new Uint8Array(answer.body)
    return new Response(content, { status: answer.status, headers: { 'content-type': type } })
  }
}
