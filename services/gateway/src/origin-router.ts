import { originPrefix } from '@opsplane/contracts'
import type { GatewayConfig } from './config.js'
import { apiPrefix, type Target } from './target.js'

/** Where a request belongs: here, to the origin of the apps, or nowhere. */
export type OriginDecision = 'here' | 'nowhere' | { to: string }

interface RequestLine {
  method?: string | undefined
  url?: string | undefined
  headers: { host?: string | undefined; 'sec-fetch-mode'?: string | string[] | undefined }
}

/** What an app's page asks of the API. */
const ofPages = new Set([`${apiPrefix}/auth/token`, `${apiPrefix}/auth/logout`])

/**
 * Serves apps from an origin of their own, and nothing else there (ADR 106) but logging in and out; requests for
 * their pages elsewhere are redirected to it. Without an apps origin everything is served everywhere. A page that is opened by a loopback address is redirected to
 * localhost, where that is the public origin: a session and a passkey belong to one name.
 */
export function createOriginRouter({
  appsOrigin,
  publicOrigin,
}: Pick<GatewayConfig, 'appsOrigin' | 'publicOrigin'>) {
  const appsHost = appsOrigin === undefined ? undefined : new URL(appsOrigin).host
  const addresses = loopbackHostsOf(publicOrigin)
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

/** By which localhost, where it is the public origin, is reached as well. */
function loopbackHostsOf(publicOrigin: string | undefined): string[] {
  if (publicOrigin === undefined) return []
  const { hostname, host } = new URL(publicOrigin)
  if (hostname !== 'localhost') return []
  return ['127.0.0.1', '[::1]'].map((address) => host.replace(hostname, address))
}
