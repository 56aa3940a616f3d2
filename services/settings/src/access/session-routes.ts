import { SessionDetail } from '@opsplane/contracts'
import { defineList, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { CursorCodec } from '@opsplane/runtime'
import type { Members } from '../membership/members.js'
import { requireSession } from '../session/own-session.js'
import { clearSessionCookie } from '../session/session-cookie.js'
import type { Sessions } from '../session/sessions.js'

const tag = 'Authentication'

export interface SessionRouteOptions {
  sessions: Sessions
  members: Members
  cursors: CursorCodec
}

/** Routes for logout and sessions. */
export function sessionRoutes({ sessions, members, cursors }: SessionRouteOptions): Route[] {
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
      operationId: 'endSession',
      method: 'post',
      path: '/auth/logout',
      summary: 'Log out',
      description:
        'Ends the session of this request and clears its cookie. API keys created in the session stay valid; revoke ' +
        'them separately. Emits `session.ended`.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      ofSession: true,
      errors: ['forbidden'],
      idempotency: 'none',
      handler: async ({ meta }) => {
        const { tokenId: id, userId: accountId } = requireSession(meta, refusal)
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
        'Ends all sessions of your login within a second, including the session of this request. API keys stay ' +
        'valid. Emits `session.ended` for each session.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      errors: ['forbidden'],
      handler: async ({ meta }) => {
        await sessions.endAllOf(requireSession(meta, refusal).userId, meta)
        clearSessionCookie(meta)
      },
    }),

    defineList({
      operationId: 'listSessions',
      path: '/auth/sessions',
      summary: 'List your sessions',
      description: 'Returns your active sessions, newest first.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      sorts: ['-createdAt'],
      response: SessionDetail,
      errors: ['forbidden'],
      handler: ({ query, binding, meta }) =>
        list(requireSession(meta, refusal).userId, meta, { ...query, binding }),
    }),

    defineRoute({
      operationId: 'endOwnSession',
      method: 'delete',
      path: '/auth/sessions/:id',
      summary: 'End one of your sessions',
      description: 'Ends the session within a second. Emits `session.ended`.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      errors: ['forbidden'],
      handler: ({ params: { id }, meta }) =>
        sessions.end({ accountId: requireSession(meta, refusal).userId, id, reason: 'ended_by_user' }, meta),
    }),

    defineList({
      operationId: 'listUserSessions',
      path: '/settings/users/:id/sessions',
      summary: 'List the sessions of a user',
      description:
        'Returns the active sessions of an active user in all workspaces, newest first. Sessions of a user who has ' +
        'permissions the caller lacks are not shown.',
      tag: 'Users',
      scope: 'credentials:manage',
      sorts: ['-createdAt'],
      response: SessionDetail,
      errors: ['forbidden'],
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
      description: 'Ends the session within a second. The user may log in again. Emits `session.ended`.',
      tag: 'Users',
      scope: 'credentials:manage',
      errors: ['forbidden'],
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

/** A key has no sessions, and must not reveal where its owner is logged in. */
const refusal = 'An API key has no sessions; revoke the key instead.'
