import { type Instant, sessionCookieHeader } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'

type Answering = Pick<RequestMeta, 'answerHeader'>

/** Makes the gateway set the cookie of a browser session. */
export const setSessionCookie = (meta: Answering, session: { token: string; expiresAt: Instant }): void =>
  meta.answerHeader(sessionCookieHeader, `${session.token} ${session.expiresAt}`)

/** Makes the gateway clear the session cookie of the request, if there is one. */
export const clearSessionCookie = (meta: Answering): void => meta.answerHeader(sessionCookieHeader, '')
