import { originPrefix } from '@opsplane/contracts'
import { apiPrefix, type Target } from './target.js'

/** Where a request belongs: here, to the origin of the apps, or nowhere. */
export type Belongs = 'here' | 'nowhere' | { to: string }

interface Asked {
  method?: string | undefined
  url?: string | undefined
  headers: { host?: string | undefined }
}

/** What an app's page asks of the API. */
const ofPages = new Set([`${apiPrefix}/auth/token`, `${apiPrefix}/auth/logout`])

/**
 * Keeps apps at an origin of their own, and everything else away from it (ADR 106). There is nothing but apps, logging in and out; elsewhere
 * their pages are passed on to it. Without an origin everything is everywhere.
 */
export function keepAppsApart(appsOrigin: string | undefined) {
  if (appsOrigin === undefined) return (): Belongs => 'here'
  const { host } = new URL(appsOrigin)
  return ({ method = '', url = '', headers }: Asked, target: Target | null): Belongs => {
    const isApp = target?.isOfOrigin === true && target.pathname.startsWith(`${originPrefix}/apps/`)
    if (headers.host?.toLowerCase() === host) return isApp || ofPages.has(url) ? 'here' : 'nowhere'
    if (!isApp) return 'here'
    return method === 'GET' || method === 'HEAD' ? { to: `${appsOrigin}${url}` } : 'nowhere'
  }
}
