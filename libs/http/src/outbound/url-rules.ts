import { isIP } from 'node:net'
import { invalidField } from '@opsplane/contracts'
import type { AddressPolicy } from './addresses.js'

/** Ports above 1023 that speak something else than HTTP (the bad ports of the Fetch standard). */
const refusedPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
])

export interface UrlRules {
  policy: AddressPolicy
  allowHttp: boolean
}

/**
 * The rules a URL can be held to without resolving its host. Returns the parsed URL.
 * Throws ApiError `validation_failed` with the code of the broken rule at the JSON pointer `path`.
 */
export function checkUrl(text: string, { policy, allowHttp }: UrlRules, path = '/url'): URL {
  const refuse = (code: string, message: string): never => {
    throw invalidField(path, code, message)
  }
  if (!URL.canParse(text)) return refuse('invalid_url', 'Must be an absolute URL.')
  const url = new URL(text)
  const secure = url.protocol === 'https:'
  if (!secure && !(allowHttp && url.protocol === 'http:')) refuse('https_required', 'Must be an https URL.')
  if (url.username !== '' || url.password !== '')
    refuse('credentials_in_url', 'Must not carry a user name or password; use headers.')
  if (!portAllowed(url)) refuse('port_not_allowed', `Port ${url.port} is not allowed.`)
  if (!literalAllowed(url.hostname, policy))
    refuse('blocked_address', 'Must not lead to a private, local or otherwise special address.')
  return url
}

function portAllowed(url: URL): boolean {
  if (url.port === '' || url.port === '80' || url.port === '443') return true
  const port = Number(url.port)
  return port > 1023 && !refusedPorts.has(port)
}

/** URL parsing has turned every spelling of an IPv4 address into the dotted one. Names pass, to be resolved. */
function literalAllowed(hostname: string, policy: AddressPolicy): boolean {
  const host = hostWithoutBrackets(hostname).replace(/\.$/, '')
  if (isIP(host) !== 0) return policy.allows(host)
  // RFC 6761: such names mean the loopback interface, whatever a resolver says.
  if (host === 'localhost' || host.endsWith('.localhost')) return policy.allows('127.0.0.1')
  return host !== ''
}

export function hostWithoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
