import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { GatewayConfig } from '../config.js'

/** Determines the origin to which a request was made, as named by its client. */
export interface OwnOrigin {
  of(request: IncomingMessage): string
  isHttps(request: IncomingMessage): boolean
}

/**
 * `PUBLIC_ORIGIN` if set. Otherwise the scheme is that of a trusted proxy's X-Forwarded-Proto, or http, and the host is
 * the one the client names: a client can choose any host, but not the scheme.
 */
export function ownOrigin(
  { publicOrigin }: Pick<GatewayConfig, 'publicOrigin'>,
  isTrustedProxy: (address: string) => boolean,
): OwnOrigin {
  const isHttps = (request: IncomingMessage): boolean => {
    if (publicOrigin !== undefined) return publicOrigin.startsWith('https:')
    if (!isTrustedProxy(request.socket.remoteAddress ?? '')) return false
    const protocols = String(request.headers['x-forwarded-proto'] ?? '').split(',')
    return protocols.at(-1)?.trim().toLowerCase() === 'https'
  }
  return {
    isHttps,
    of: (request) =>
      publicOrigin ?? originIn(`${isHttps(request) ? 'https' : 'http'}://${request.headers.host ?? ''}`),
  }
}

/** The origin of an address; for an invalid host, an origin that equals no other. */
function originIn(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : 'http://invalid'
}

/** True for `localhost`, its subdomains, and loopback addresses. */
export function isLoopbackHost(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true
  return isIP(hostname) === 4 && hostname.startsWith('127.')
}
