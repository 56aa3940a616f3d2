import {
  ApiError,
  BrowserSession,
  BrowserSignIn,
  browserSignIn,
  Credentials,
  Session,
  SessionDetail,
} from '@opsplane/contracts'
import { defineList, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { CursorCodec } from '@opsplane/runtime'
import { z } from 'zod'
import type { AcceptInvitation } from '../membership/acceptance.js'
import type { Members } from '../membership/members.js'
import type { Login } from '../session/login.js'
import { clearSessionCookie, setSessionCookie } from '../session/session-cookie.js'
import { originOf, type Sessions } from '../session/sessions.js'

const tag = 'Authentication'

export interface SessionWork {
  login: Login
  accept: AcceptInvitation
  sessions: Sessions
  members: Members
  cursors: CursorCodec
}

/** Logging in and out, and who is logged in. */
export function sessionRoutes({ login, accept, sessions, members, cursors }: SessionWork): Route[] {
  const list = async (userId: string, meta: RequestMeta, page: Page) => {
    const binding = `${userId}|${page.binding}`
    const [after] = page.after === undefined ? [] : cursors.decode(page.after, binding)
    const { tokenId: current } = meta.principal
    const found = await sessions.list(userId, {
      ...{
        limit: page.limit,
        after: after === undefined ? undefined : String(after),
        now: meta.now,
        current,
      },
    })
    return { ...found, nextCursor: found.nextCursor && cursors.encode([found.nextCursor], binding) }
  }

  return [
    defineRoute({
      operationId: 'createSession',
      method: 'post',
      path: '/auth/token',
      summary: 'Log in',
      description:
        'Exchanges e-mail and password for a session token, which ends when it lies idle, at `expiresAt`, or at ' +
        'logout. An unknown e-mail and a wrong password are answered alike. After several failures each next one ' +
        'must wait longer: 429 with Retry-After. Emits `session.started`, and `login.failed` at most once a minute.',
      tag,
      scope: 'public',
      body: Credentials,
      response: Session,
      status: 201,
      errors: ['invalid_credentials', 'rate_limited'],
      idempotency: 'none',
      handler: ({ body, meta }) => login(body, originOf(meta), { now: meta.now, kind: 'ses' }),
    }),

    defineRoute({
      operationId: browserSignIn,
      method: 'post',
      path: '/auth/session',
      summary: 'Sign in from a browser',
      description:
        'Takes e-mail and password, or an invitation as `POST /auth/invitations/accept` does, and sets the session as a cookie ' +
        '(HttpOnly, SameSite=Strict), which no answer shows. It is accepted from pages of the origin it was set by: with ' +
        '`Sec-Fetch-Site: same-origin`, or, from a browser that sends none, with an equal `Origin`; a GET then has an ' +
        '`X-Requested-With` of any value. The same holds for this request. A cookie opens the API only, and `Authorization` goes ' +
        'before it. Without an origin of its own for apps (`APPS_ORIGIN`) it is refused, but for loopback. Throttled as `POST /auth/token` is. ' +
        'Emits `session.started`.',
      tag,
      scope: 'public',
      body: BrowserSignIn,
      response: BrowserSession,
      status: 201,
      errors: ['forbidden', 'invalid_credentials', 'invalid_token', 'rate_limited'],
      idempotency: 'none',
      handler: async ({ body, meta }) => {
        const session =
          'token' in body
            ? await accept(body, meta, 'web')
            : await login(body, originOf(meta), { now: meta.now, kind: 'web' })
        const { accessToken, tokenType: _, ...shown } = session
        setSessionCookie(meta, { token: accessToken, expiresAt: session.expiresAt })
        return shown
      },
    }),

    defineRoute({
      operationId: 'endSession',
      method: 'post',
      path: '/auth/logout',
      summary: 'Log out',
      description:
        'Ends the session this request is made with, and clears its cookie. API keys it made stay, and are revoked instead. Emits ' +
        '`session.ended`.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      ofSession: true,
      response: z.void(),
      status: 204,
      errors: ['forbidden'],
      idempotency: 'none',
      handler: async ({ meta }) => {
        const { tokenId: id, userId: accountId } = requireSession(meta)
        await sessions.end({ accountId, id, reason: 'logout' }, meta)
        clearSessionCookie(meta)
      },
    }),

    defineRoute({
      operationId: 'endOwnSessions',
      method: 'delete',
      path: '/auth/sessions',
      summary: 'Sign out everywhere',
      description:
        'Ends all sessions of your login within a second, also the one this request is made with. API keys stay. Emits ' +
        '`session.ended` for each.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      response: z.void(),
      status: 204,
      errors: ['forbidden'],
      handler: async ({ meta }) => {
        await sessions.endAllOf(requireSession(meta).userId, meta)
        clearSessionCookie(meta)
      },
    }),

    defineList({
      operationId: 'listSessions',
      path: '/auth/sessions',
      summary: 'List your sessions',
      description: 'Those in force, the newest first.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      sorts: ['-createdAt'],
      response: SessionDetail,
      errors: ['forbidden'],
      handler: ({ query, binding, meta }) => list(requireSession(meta).userId, meta, { ...query, binding }),
    }),

    defineRoute({
      operationId: 'endOwnSession',
      method: 'delete',
      path: '/auth/sessions/:id',
      summary: 'End one of your sessions',
      description: 'Within a second. Emits `session.ended`.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'forbidden'],
      handler: ({ params: { id }, meta }) =>
        sessions.end({ accountId: requireSession(meta).userId, id, reason: 'ended_by_user' }, meta),
    }),

    defineList({
      operationId: 'listUserSessions',
      path: '/settings/users/:id/sessions',
      summary: 'List the sessions of a user',
      description:
        'Those in force of an active user, the newest first, whichever workspace they are used in. Of a user who may ' +
        'do more than the caller they are not shown.',
      tag: 'Users',
      scope: 'credentials:manage',
      sorts: ['-createdAt'],
      response: SessionDetail,
      errors: ['not_found', 'forbidden'],
      handler: async ({ params, query, binding, meta }) => {
        await members.requireCharge(params.id, meta)
        return list(params.id, meta, { ...query, binding })
      },
    }),

    defineRoute({
      operationId: 'endUserSession',
      method: 'delete',
      path: '/settings/users/:id/sessions/:sessionId',
      summary: 'End a session of a user',
      description: 'Within a second. The user may log in again. Emits `session.ended`.',
      tag: 'Users',
      scope: 'credentials:manage',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'forbidden'],
      handler: async ({ params: { id: accountId, sessionId: id }, meta }) => {
        await members.requireCharge(accountId, meta)
        await sessions.end({ accountId, id, reason: 'ended_by_admin' }, meta)
      },
    }),
  ]
}

interface Page {
  limit: number
  after?: string | undefined
  binding: string
}

/** A key is for programs: it neither has sessions nor learns where its owner is logged in. */
function requireSession({ principal }: RequestMeta) {
  if (principal.tokenId.startsWith('ses_')) return principal
  throw new ApiError('forbidden', 'An API key has no sessions; revoke the key instead.')
}
