import { OpsplaneError } from '@opsplane/client'
import { sessionCodes } from '../api/proving.js'
import { ownAddress } from './place.js'

/** Pages of the sign-in program; some of them are targets of links in mails. */
export const signInPages = {
  signIn: '/sign-in',
  enrolment: '/sign-in/factor',
  invitation: '/invitation',
  reset: '/reset',
} as const

export const isSignInPage = (pathname: string): boolean =>
  Object.values(signInPages).some((page) => page === pathname)

/** The sign-in page, which is a separate program; returns to `to` afterwards. */
export function signInAddress(to: string, hasEnded: boolean): string {
  const search = new URLSearchParams({ to: ownAddress(to), ...(hasEnded && { ended: 'true' }) })
  return `${signInPages.signIn}?${search}`
}

/** The page where a person adds the second factor that their workspace requires. */
export const enrolmentAddress = (to: string): string =>
  `${signInPages.enrolment}?${new URLSearchParams({ to: ownAddress(to) })}`

/** The address to which an identity provider redirects the browser; after a refusal, the fragment contains the reason. */
export const ssoReturn = (to: string): string => {
  // A longer address is dropped, and the sign-in leads to the start page instead.
  const back = `${signInPages.signIn}?${new URLSearchParams({ back: 'true', to: ownAddress(to) })}`
  return back.length <= 500 ? back : `${signInPages.signIn}?back=true`
}

/** The page that restores access after a refusal; `undefined` if there is none. `to` is the address the person requested. */
export function remedyAddress(error: unknown, to: string, hasEnded: boolean): string | undefined {
  if (!(error instanceof OpsplaneError)) return undefined
  if (sessionCodes.has(error.code ?? '')) return signInAddress(to, hasEnded)
  if (error.code === 'factor_enrolment_required') return enrolmentAddress(to)
  const isProviderRequired = error.details.some(({ code }) => code === 'sso_required')
  return isProviderRequired ? signInAddress(to, false) : undefined
}

/**
 * Whether a person may be signed in, by a cookie that the gateway sets and clears together with the session. Without it, a
 * request would only return an error.
 */
export const mayBeSignedIn = (cookies: string): boolean =>
  /(^|; )(__Host-)?opsplane_signed_in(_\w+)?=yes/.test(cookies)

/** Parses the URL of a sign-in page. */
export function parseSignIn({ search, hash }: Pick<Location, 'search' | 'hash'>) {
  const query = new URLSearchParams(search)
  const fragment = new URLSearchParams(hash.slice(1))
  const to = ownAddress(query.get('to') ?? undefined)
  return {
    to,
    hasEnded: query.get('ended') === 'true',
    /** The browser returns from an identity provider. */
    isBack: query.get('back') === 'true',
    ssoRefusal: fragment.has('error') ? (fragment.get('message') ?? fragment.get('error') ?? '') : undefined,
    workspace: /^\/w\/([a-z0-9-]+)(\/|$)/.exec(to)?.[1],
  }
}
