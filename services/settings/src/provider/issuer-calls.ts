import type { Outbound } from '@opsplane/http'
import { OutboundError } from '@opsplane/http'

/** The part of `fetch` that the client of a provider needs. */
export type IssuerFetch = (
  url: string,
  options: { method?: string; headers?: ConstructorParameters<typeof Headers>[0]; body?: unknown },
) => Promise<Response>

/** All that one sign-in may ask of a provider, together. */
const allCallsMs = 10_000
/** Of a discovery document, a set of keys, or an answer with tokens. */
const maxAnswerBytes = 512 * 1024

/** Statuses whose answers have no body. */
const bodiless = new Set([101, 103, 204, 205, 304])

/** Calls to a provider through the guard, all with one deadline that begins now. No redirects: they come back as they are. */
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
