import { OpsplaneError } from '@opsplane/client'
import { sessionCodes } from '../api/proving.js'
import { ownAddress } from './place.js'

/** Pages of the program that signs people in; mails lead to some of them. */
export const signInPages = {
  signIn: '/sign-in',
  enrolment: '/sign-in/factor',
  invitation: '/invitation',
  reset: '/reset',
} as const

export const isSignInPage = (pathname: string): boolean =>
  Object.values(signInPages).some((page) => page === pathname)

/** Where a person signs in, and returns from to the page they wanted. It is a program of its own. */
export function signInAddress(to: string, hasEnded: boolean): string {
  const search = new URLSearchParams({ to: ownAddress(to), ...(hasEnded && { ended: 'true' }) })
  return `${signInPages.signIn}?${search}`
}

/** Where a person adds the second factor that their workspace requires. */
export const enrolmentAddress = (to: string): string =>
  `${signInPages.enrolment}?${new URLSearchParams({ to: ownAddress(to) })}`

/** Where an identity provider sends the browser back to, with a reason behind the `#` where it refuses. */
export const ssoReturn = (to: string): string => {
  // A longer address is none that is come back to.
  const back = `${signInPages.signIn}?${new URLSearchParams({ back: 'true', to: ownAddress(to) })}`
  return back.length <= 500 ? back : `${signInPages.signIn}?back=true`
}

/** The page that restores access after a refusal; undefined where there is none. `to`: the address the person wanted. */
export function remedyAddress(error: unknown, to: string, hasEnded: boolean): string | undefined {
  if (!(error instanceof OpsplaneError)) return undefined
  if (sessionCodes.has(error.code ?? '')) return signInAddress(to, hasEnded)
  if (error.code === 'factor_enrolment_required') return enrolmentAddress(to)
  const isProviderRequired = error.details.some(({ code }) => code === 'sso_required')
  return isProviderRequired ? signInAddress(to, false) : undefined
}

/**
 * Whether a person may be signed in, by the mark that the gateway sets and clears with the session, which no page reads. Without
 * it there is nothing to ask, which would be answered by an error.
 */
export const mayBeSignedIn = (cookies: string): boolean =>
  /(^|; )(__Host-)?opsplane_signed_in(_\w+)?=yes/.test(cookies)

/** What a sign-in page is to do by its address. */
export function parseSignIn({ search, hash }: Pick<Location, 'search' | 'hash'>) {
  const given = new URLSearchParams(search)
  const said = new URLSearchParams(hash.slice(1))
  const to = ownAddress(given.get('to') ?? undefined)
  return {
    to,
    hasEnded: given.get('ended') === 'true',
    /** It comes from an identity provider. */
    isBack: given.get('back') === 'true',
    ssoRefusal: said.has('error') ? (said.get('message') ?? said.get('error') ?? '') : undefined,
    workspace: /^\/w\/([a-z0-9-]+)(\/|$)/.exec(to)?.[1],
  }
}
