import type { IncomingMessage } from 'node:http'
import { ApiError } from '@opsplane/contracts'
import type { GatewayConfig } from '../config.js'
import { createOwnCookie } from './own-cookie.js'
import { isLoopbackHost, type OwnOrigin } from './own-origin.js'

/** The cookie with a browser's session, and the rules for the requests that may use it. */
export interface SessionCookie {
  /**
   * The session token of an API request. Returns `undefined` without a cookie; throws `forbidden` if the request was
   * not made by a page of this origin.
   */
  tokenOf(request: IncomingMessage): string | undefined
  /** Throws `forbidden` unless a browser may sign in here, from this page. */
  requireSignIn(request: IncomingMessage): void
  /**
   * The Set-Cookie values for the content of `sessionCookieHeader`, as sent by settings: the session cookie, and a
   * marker that tells pages, which cannot read the session, whether there may be one.
   */
  setCookies(request: IncomingMessage, session: string): readonly string[]
}

type CookieConfig = Pick<GatewayConfig, 'installationId' | 'appsOrigin'>

/**
 * Prefix of the tokens of browser sessions. As Bearer tokens they are rejected, and no
 * other token is accepted from a cookie.
 */
export const browserTokenPrefix = 'ops_web_'

/** The console checks for a cookie of this name before it requests the signed-in user. */
const signedInMark = 'opsplane_signed_in'

/** A custom header: forms and links cannot send it, and scripts of another origin only if a preflight permits it. */
const pageHeader = 'x-requested-with'

export function createSessionCookie(config: CookieConfig, origin: OwnOrigin): SessionCookie {
  const { read, setCookie } = createOwnCookie(config, origin, {
    name: 'opsplane_session',
    sameSite: 'Strict',
  })
  const mark = createOwnCookie(config, origin, {
    ...{ name: signedInMark, sameSite: 'Strict', isReadable: true },
  })

  const requireOwnPage = (request: IncomingMessage) => {
    const own = origin.of(request)
    const { 'sec-fetch-site': site, origin: from, [pageHeader]: marked } = request.headers
    if (site !== undefined) {
      if (site === 'same-origin') return
    } else if (from !== undefined) {
      if (from === own) return
    } else if ((request.method === 'GET' || request.method === 'HEAD') && marked) return
    throw foreignPage({ own, from, site: site?.toString() })
  }

  return {
    tokenOf(request) {
      if (!request.url?.startsWith('/api/')) return undefined
      const token = read(request)
      if (!token?.startsWith(browserTokenPrefix)) return undefined
      requireOwnPage(request)
      return token
    },

    requireSignIn(request) {
      requireOwnPage(request)
      if (config.appsOrigin !== undefined || isLoopbackHost(new URL(origin.of(request)).hostname)) return
      throw new ApiError(
        'forbidden',
        'Signing in with a cookie is turned off, as apps would run at the origin of the cookie. Set APPS_ORIGIN of the gateway to an ' +
          'origin of their own, or sign in by POST /auth/token.',
      )
    },

    setCookies: (request, session) => [
      setCookie(request, session),
      mark.setCookie(request, session.replace(/^\S+/, 'yes')),
    ],
  }
}

function foreignPage({
  own,
  from,
  site,
}: {
  own: string
  from: string | undefined
  site: string | undefined
}): ApiError {
  const originLabel = from ?? (site === undefined ? 'an unknown origin' : `a page that is ${site}`)
  return new ApiError(
    'forbidden',
    `A session cookie is accepted from pages of ${own} only, which PUBLIC_ORIGIN of the gateway names; this request comes from ${originLabel}. ` +
      'Use that origin, or send a token: Authorization: Bearer <token>.',
  )
}
