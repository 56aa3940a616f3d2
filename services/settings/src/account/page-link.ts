/** Pages of the console that take what was mailed, or handed on. */
const pages = {
  invitation: '/invitation',
  password_reset: '/reset',
  address_proof: '/account/address',
} as const

export type LinkedPage = keyof typeof pages

/** The token stands in the fragment, which no server is sent. Null where the origin of the pages is not known. */
export function pageLink(publicOrigin: string | undefined, page: LinkedPage, token: string): string | null {
  return publicOrigin === undefined ? null : `${publicOrigin}${pages[page]}#token=${token}`
}
