import { type Instant, ssoCookieHeader } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'

type Answering = Pick<RequestMeta, 'answerHeader'>

/** Makes the gateway set the cookie of a sign-in at a provider. */
export const setSsoCookie = (meta: Answering, cookie: { value: string; expiresAt: Instant }): void =>
  meta.answerHeader(ssoCookieHeader, `${cookie.value} ${cookie.expiresAt}`)

/** Makes the gateway clear the cookie. */
export const clearSsoCookie = (meta: Answering): void => meta.answerHeader(ssoCookieHeader, '')

/** The value of the cookie, as forwarded by the gateway. */
export const readSsoCookie = (meta: Pick<RequestMeta, 'header'>): string | undefined =>
  meta.header(ssoCookieHeader)
