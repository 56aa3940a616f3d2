/** Pages of the console that accept a token from a mail or a link. */
const pages = {
  invitation: '/invitation',
  password_reset: '/reset',
  address_proof: '/account/address',
} as const

export type LinkedPage = keyof typeof pages

/** Link to a page. The token is in the fragment, which is not sent to servers. `null` if the public origin is unknown. */
export function pageLink(publicOrigin: string | undefined, page: LinkedPage, token: string): string | null {
  return publicOrigin === undefined ? null : `${publicOrigin}${pages[page]}#token=${token}`
}
