import { originPrefix } from '@opsplane/contracts'
import type { GatewayConfig } from './config.js'
import { apiPrefix, type Target } from './target.js'

/** Where a request belongs: here, at another origin, or nowhere. */
export type OriginDecision = 'here' | 'nowhere' | { to: string }

interface RequestLine {
  method?: string | undefined
  url?: string | undefined
  headers: { host?: string | undefined; 'sec-fetch-mode'?: string | string[] | undefined }
}

/** API operations used by the pages of apps. */
const ofPages = new Set([`${apiPrefix}/auth/token`, `${apiPrefix}/auth/logout`])

/**
 * Serves apps from their own origin, which serves nothing else except sign-in and sign-out (ADR 106); requests for
 * their pages at other origins are redirected to it. Without an apps origin everything is served everywhere. A page
 * opened by a loopback address is redirected to localhost if that is the public origin, since sessions and passkeys
 * belong to one host name.
 */
export function createOriginRouter({
  appsOrigin,
  publicOrigin,
}: Pick<GatewayConfig, 'appsOrigin' | 'publicOrigin'>) {
  const appsHost = appsOrigin === undefined ? undefined : new URL(appsOrigin).host
  const addresses = listLoopbackHosts(publicOrigin)
  return ({ method = '', url = '', headers }: RequestLine, target: Target | null): OriginDecision => {
    const host = headers.host?.toLowerCase() ?? ''
    const isApp = target?.isOfOrigin === true && target.pathname.startsWith(`${originPrefix}/apps/`)
    if (host === appsHost) return isApp || ofPages.has(url) ? 'here' : 'nowhere'
    if (isApp && appsOrigin !== undefined)
      return method === 'GET' || method === 'HEAD' ? { to: `${appsOrigin}${url}` } : 'nowhere'
    const isPage = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && url.startsWith('/')
    return isPage && addresses.includes(host) ? { to: `${publicOrigin}${url}` } : 'here'
  }
}

/** Loopback addresses by which localhost, if it is the public origin, can be reached. */
function listLoopbackHosts(publicOrigin: string | undefined): string[] {
  if (publicOrigin === undefined) return []
  const { hostname, host } = new URL(publicOrigin)
  if (hostname !== 'localhost') return []
  return ['127.0.0.1', '[::1]'].map((address) => host.replace(hostname, address))
}
