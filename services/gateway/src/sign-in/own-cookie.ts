import type { IncomingMessage } from 'node:http'
import type { GatewayConfig } from '../config.js'
import type { OwnOrigin } from './own-origin.js'

/** A cookie of the gateway itself, which is not forwarded to services. */
export interface OwnCookie {
  /** `undefined` if the cookie is missing, or has two values: one of them was set by another site. */
  read(request: IncomingMessage): string | undefined
  /** The Set-Cookie value for a text of the form `<value> <expiry>`; clears the cookie if the text is empty. */
  setCookie(request: IncomingMessage, text: string): string
}

interface CookieRules {
  name: string
  /** `Lax`: the cookie is sent with navigations started by another site. */
  sameSite: 'Strict' | 'Lax'
  /** Readable by scripts of the origin; contains nothing secret. */
  isReadable?: true
}

export function createOwnCookie(
  { installationId }: Pick<GatewayConfig, 'installationId'>,
  origin: OwnOrigin,
  { name, sameSite, isReadable }: CookieRules,
): OwnCookie {
  // Two installations on one host with different ports need separate names, since cookies do not distinguish ports.
  const plainName = [name, installationId].filter(Boolean).join('_')
  const nameFor = (isHttps: boolean) => (isHttps ? `__Host-${name}` : plainName)

  return {
    read(request) {
      const { cookie } = request.headers
      return cookie === undefined ? undefined : onlyValue(cookie, nameFor(origin.isHttps(request)))
    },

    setCookie(request, text) {
      const isHttps = origin.isHttps(request)
      const [value = '', expiresAt = ''] = text.split(' ')
      const expires = new Date(value === '' ? 0 : expiresAt).toUTCString()
      const rules = [
        `Path=/; Expires=${expires}`,
        ...(isReadable ? [] : ['HttpOnly']),
        `SameSite=${sameSite}`,
        ...(isHttps ? ['Secure'] : []),
      ]
      return `${nameFor(isHttps)}=${value}; ${rules.join('; ')}`
    },
  }
}

function onlyValue(header: string, name: string): string | undefined {
  const values = new Set<string>()
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) values.add(pair.slice(at + 1).trim())
  }
  return values.size === 1 ? [...values][0] : undefined
}
