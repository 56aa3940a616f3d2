import { originPrefix } from '@opsplane/contracts'
import type { GatewayConfig } from './config.js'
import { apiPrefix, type Target } from './target.js'

/** Where a request belongs: here, to the origin of the apps, or nowhere. */
export type Belongs = 'here' | 'nowhere' | { to: string }

interface Asked {
  method?: string | undefined
  url?: string | undefined
  headers: { host?: string | undefined; 'sec-fetch-mode'?: string | string[] | undefined }
}

/** What an app's page asks of the API. */
const ofPages = new Set([`${apiPrefix}/auth/token`, `${apiPrefix}/auth/logout`])

/**
 * Keeps apps at an origin of their own, and everything else away from it (ADR 106). There is nothing but apps, logging in and out; elsewhere
 * their pages are passed on to it. Without an origin everything is everywhere. A page that is opened by a loopback address is passed on to
 * localhost, where that is the public origin: a session and a passkey belong to one name.
 */
export function keepOriginsApart({
  appsOrigin,
  publicOrigin,
}: Pick<GatewayConfig, 'appsOrigin' | 'publicOrigin'>) {
  const appsHost = appsOrigin === undefined ? undefined : new URL(appsOrigin).host
  const addresses = loopbackHostsOf(publicOrigin)
  return ({ method = '', url = '', headers }: Asked, target: Target | null): Belongs => {
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
