import { type Instant, ssoCookieHeader } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'

type Answering = Pick<RequestMeta, 'answerHeader'>

/** Has the gateway set the cookie of a sign-in at a provider. */
export const setSsoCookie = (meta: Answering, cookie: { value: string; expiresAt: Instant }): void =>
  meta.answerHeader(ssoCookieHeader, `${cookie.value} ${cookie.expiresAt}`)

/** Has the gateway clear it. */
export const clearSsoCookie = (meta: Answering): void => meta.answerHeader(ssoCookieHeader, '')

/** What the gateway has found in it. */
export const readSsoCookie = (meta: Pick<RequestMeta, 'header'>): string | undefined =>
  meta.header(ssoCookieHeader)
