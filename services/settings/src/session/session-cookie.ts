import { type Instant, sessionCookieHeader } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'

type Answering = Pick<RequestMeta, 'answerHeader'>

/** Has the gateway set the cookie of a browser's session. */
export const setSessionCookie = (meta: Answering, session: { token: string; expiresAt: Instant }): void =>
  meta.answerHeader(sessionCookieHeader, `${session.token} ${session.expiresAt}`)

/** Has the gateway clear the cookie that the request was made with, if it was. */
export const clearSessionCookie = (meta: Answering): void => meta.answerHeader(sessionCookieHeader, '')
