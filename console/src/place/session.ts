import { ownAddress } from './place.js'

/** Where somebody signs in, and comes back from to what they wanted to see. It is a program of its own. */
export function signInAddress(to: string, hasEnded: boolean): string {
  const search = new URLSearchParams({ to: ownAddress(to), ...(hasEnded && { ended: 'true' }) })
  return `/sign-in?${search}`
}

/**
 * Whether somebody may be signed in, by the mark that the gateway sets and clears with the session, which no page reads. Without
 * it there is nothing to ask, which would be answered by an error.
 */
export const mayBeSignedIn = (cookies: string): boolean =>
  /(^|; )(__Host-)?opsplane_signed_in(_\w+)?=yes/.test(cookies)

/** What a sign-in page is to do by its address. */
export function signInOf(search: string): { to: string; hasEnded: boolean } {
  const given = new URLSearchParams(search)
  return { to: ownAddress(given.get('to') ?? undefined), hasEnded: given.get('ended') === 'true' }
}
