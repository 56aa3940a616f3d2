import { BlockList, isIP } from 'node:net'
import { invalidField } from '@opsplane/contracts'
import type { AddressPolicy } from './addresses.js'

/** Ports above 1023 used by other protocols than HTTP (the bad ports of the Fetch standard). */
export const refusedPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
])

interface UrlRules {
  policy: AddressPolicy
  /** Whether plain http is allowed: to any host, to none, or only to loopback hosts. */
  allowHttp: boolean | 'loopback'
}

/**
 * Checks a URL without resolving its host, and returns the parsed URL.
 * Throws ApiError `validation_failed` with the code of the broken rule at the JSON pointer `path`.
 */
export function checkUrl(text: string, { policy, allowHttp }: UrlRules, path = '/url'): URL {
  const refuse = (code: string, message: string): never => {
    throw invalidField(path, code, message)
  }
  if (!URL.canParse(text)) return refuse('invalid_url', 'Must be an absolute URL.')
  const url = new URL(text)
  if (!schemeAllowed(url, allowHttp)) refuse('https_required', 'Must be an https URL.')
  if (url.username !== '' || url.password !== '')
    refuse('credentials_in_url', 'Must not carry a user name or password; use headers.')
  if (!portAllowed(url)) refuse('port_not_allowed', `Port ${url.port} is not allowed.`)
  if (!literalAllowed(url.hostname, policy))
    refuse('blocked_address', 'Must not lead to a private, local or otherwise special address.')
  return url
}

function schemeAllowed(url: URL, allowHttp: UrlRules['allowHttp']): boolean {
  if (url.protocol !== 'http:') return url.protocol === 'https:'
  return allowHttp === 'loopback' ? isLoopback(url.hostname) : allowHttp
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

function isLoopback(hostname: string): boolean {
  const host = bareHost(hostname)
  const family = isIP(host)
  return family === 0 ? isLocalName(host) : loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

function portAllowed(url: URL): boolean {
  if (url.port === '' || url.port === '80' || url.port === '443') return true
  const port = Number(url.port)
  return port > 1023 && !refusedPorts.has(port)
}

/** URL parsing has normalized every spelling of an IPv4 address to dotted notation. Names pass and are resolved later. */
export function literalAllowed(hostname: string, policy: AddressPolicy): boolean {
  const host = bareHost(hostname)
  if (isIP(host) !== 0) return policy.allows(host)
  return isLocalName(host) ? policy.allows('127.0.0.1') : host !== ''
}

/** RFC 6761: such names refer to the loopback interface, whatever a resolver returns. */
export function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

const bareHost = (hostname: string) => hostWithoutBrackets(hostname).replace(/\.$/, '')

export function hostWithoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/**
 * A host as written in URLs, with every spelling of an IPv4 address normalized to
 * dotted notation; `undefined` if invalid.
 */
export function normalizeHostname(host: string): string | undefined {
  const bare = /^\[.*\]$/.test(host) ? host.slice(1, -1) : host
  const isIpv6 = isIP(bare) === 6
  if (!isIpv6 && /[\s/\\?#@%:[\]]/.test(host)) return undefined
  const text = `http://${isIpv6 ? `[${bare}]` : host}/`
  return URL.canParse(text) ? new URL(text).hostname : undefined
}
