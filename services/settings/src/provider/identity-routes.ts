import { Identity, notFound, SsoLocation, SsoStart } from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { toStatementRunner } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { requireSession } from '../session/own-session.js'
import type { Sessions } from '../session/sessions.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { identity } from './identity.js'
import { findOwnIdentity, listIdentities } from './queries.js'
import type { SsoSignIn } from './sign-in.js'
import { setSsoCookie } from './sso-cookie.js'
import { endSsoSessions } from './sso-sessions.js'

const own = { tag: 'Single sign-on', scope: 'authenticated', workspace: 'none' } as const

export interface IdentityRouteOptions {
  signIn: SsoSignIn
  sessions: Sessions
}

/** Routes for the identities with which a person signs in to their own login. */
export function identityRoutes(
  { store, database: { db }, relay }: Pick<ServiceContext, 'store' | 'database' | 'relay'>,
  { signIn, sessions }: IdentityRouteOptions,
): Route[] {
  const identities = store.aggregate(identity)

  const unlink = async (id: string, meta: RequestMeta): Promise<void> => {
    const found = await findOwnIdentity(db, { id, userId: meta.principal.userId })
    if (found === null) throw notFound()
    const { workspaceId, providerId } = found
    await db.transaction(async (tx) => {
      await store.within(toStatementRunner(tx), { ...meta, tenant: workspaceScope(workspaceId) }, (unit) =>
        unit.handle(identities, id, { kind: 'unlink' }),
      )
      const sessionFilter = { providerId, identityId: id }
      await endSsoSessions(tx, sessions, sessionFilter, { ...meta, reason: 'provider_revoked' })
    })
    relay.wake()
  }

  return [
    defineRoute({
      ...own,
      operationId: 'listIdentities',
      method: 'get',
      path: '/auth/identities',
      summary: 'List your identities',
      description: 'Returns the identities that can sign in to your login, oldest first, at most 200.',
      response: z.object({ identities: z.array(Identity) }).meta({ id: 'Identities' }),
      errors: ['forbidden'],
      handler: async ({ meta }) => ({
        identities: await listIdentities(db, requireSession(meta, noKey).userId),
      }),
    }),

    defineRoute({
      ...own,
      operationId: 'linkIdentity',
      stepUp: true,
      method: 'post',
      path: '/auth/identities',
      summary: 'Start linking an identity',
      description:
        'Requires the session of a browser that is valid for all your workspaces. Returns the URL to which to ' +
        'redirect the browser, like `POST /auth/sso/start`; the account that signs in at the provider can sign in to ' +
        'your login from then on. Emits `identity.linked`.',
      waits: true,
      body: SsoStart,
      response: SsoLocation,
      errors: ['not_found', 'conflict', 'forbidden'],
      idempotency: 'none',
      handler: async ({ body, meta }) => {
        const { location, cookie } = await signIn.startLink(body, meta)
        setSsoCookie(meta, cookie)
        return { location }
      },
    }),

    defineRoute({
      ...own,
      operationId: 'unlinkIdentity',
      stepUp: true,
      method: 'delete',
      path: '/auth/identities/:id',
      summary: 'Unlink an identity',
      description:
        'The identity can no longer sign in to your login, and its sessions end. Emits `identity.unlinked`.',
      errors: ['forbidden'],
      handler: async ({ params, meta }) => {
        requireSession(meta, noKey)
        await unlink(params.id, meta)
      },
    }),
  ]
}

const noKey = 'An API key neither sees nor changes how its owner signs in. Log in.'
