import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { sessionCookieHeader, ssoCookieHeader } from '@opsplane/contracts'
import { apiPrefix } from './target.js'

/** Headers that speak about one connection only. */
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

/** What a client must not tell a service: it is the gateway's to say, or is no part of the API. */
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

/** Names listed in a Connection header are hop-by-hop too. */
const connectionOptions = (value: string) => value.split(',').map((name) => name.trim().toLowerCase())

/** A client's headers without what must not reach a service, as a flat name, value list. */
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

/** In which settings says what goes into a cookie. */
const cookieHeaders = [sessionCookieHeader, ssoCookieHeader] as const

/** Makes cookies of what stands in one of `cookieHeaders`. */
export type SetCookies = (header: (typeof cookieHeaders)[number], text: string) => readonly string[]

/** A service's headers for the client, with the gateway's own. Changes and returns `headers`. */
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
  // A service names an address below its own root.
  if (headers.location?.startsWith('/')) headers.location = `${apiPrefix}${headers.location}`
  return Object.assign(headers, added)
}
