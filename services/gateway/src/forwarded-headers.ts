import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { sessionCookieHeader, ssoCookieHeader } from '@opsplane/contracts'
import { apiPrefix } from './target.js'

/** Headers that apply to a single connection. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** Headers that clients must not send to services: they are set by the gateway, or are not part of the API. */
const notForServices = new Set([
  ...hopByHop,
  'authorization',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'x-client-ip',
  'x-real-ip',
  'traceparent',
  'tracestate',
  'x-request-id',
])
const notForServicesPrefixes = ['x-forwarded-', 'x-internal-', 'x-opsplane-']

const isForServices = (name: string) =>
  !notForServices.has(name) && !notForServicesPrefixes.some((prefix) => name.startsWith(prefix))

/** Names listed in a Connection header are hop-by-hop as well. */
const connectionOptions = (value: string) => value.split(',').map((name) => name.trim().toLowerCase())

/** A client's headers without those that must not reach a service, as a flat list of names and values. */
export function requestHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const { connection } = headers
  const options = connection === undefined || connection === 'keep-alive' ? [] : connectionOptions(connection)
  const kept: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const lowerCase = name.toLowerCase()
    if (isForServices(lowerCase) && !options.includes(lowerCase)) kept.push(name, rawHeaders[index + 1] ?? '')
  }
  return kept
}

/** Headers in which settings sends values for cookies. */
const cookieHeaders = [sessionCookieHeader, ssoCookieHeader] as const

/** Builds the Set-Cookie values for one of `cookieHeaders`. */
export type SetCookies = (header: (typeof cookieHeaders)[number], text: string) => readonly string[]

/** A service's headers for the client, plus the gateway's own. Modifies and returns `headers`. */
export function responseHeaders(
  headers: IncomingHttpHeaders,
  added: Record<string, string>,
  setCookies?: SetCookies,
): IncomingHttpHeaders {
  for (const name of cookieHeaders) {
    const text = headers[name]
    if (text === undefined) continue
    delete headers[name]
    if (setCookies)
      headers['set-cookie'] = [...(headers['set-cookie'] ?? []), ...setCookies(name, text.toString())]
  }
  if (headers.connection !== undefined && headers.connection !== 'keep-alive') {
    for (const name of connectionOptions(headers.connection)) delete headers[name]
  }
  for (const name of hopByHop) delete headers[name]
  // Services use addresses relative to their own root.
  if (headers.location?.startsWith('/')) headers.location = `${apiPrefix}${headers.location}`
  return Object.assign(headers, added)
}
