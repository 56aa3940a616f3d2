import {
  InvitationAcceptance,
  InvitedUser,
  NewInvitation,
  Removal,
  RemovedUser,
  Session,
  User,
  UserDependents,
  UserFilters,
  UserPatch,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { memberships as table } from '../schema.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import type { AcceptInvitation } from './acceptance.js'
import type { Invite } from './invitations.js'
import type { Members } from './members.js'
import { buildPrefixCondition } from './queries.js'
import type { Removals } from './removal.js'

const tag = 'Users'

const route = defineResource({
  name: 'User',
  path: '/settings/users',
  tag,
  read: 'users:read',
  write: 'users:write',
  response: User,
})

export interface MembershipRouteOptions {
  members: Members
  removal: Removals
  invite: Invite
  accept: AcceptInvitation
}

/** Routes for the users of the current workspace. */
export function membershipRoutes(
  ctx: ServiceContext,
  { members, removal, invite, accept }: MembershipRouteOptions,
): Route[] {
  return [
    route.list({
      summary: 'List the users of the workspace',
      description:
        'Includes invited, suspended and removed (`deactivated`) users unless filtered by `status`.',
      query: UserFilters,
      handler: pageReader(ctx, {
        table,
        present: members.present,
        select: ({ query: { status, role, q }, meta }) => ({
          tenant: workspaceScope(meta.tenant.workspaceId),
          where: [
            status && eq(table.status, status),
            role === undefined ? undefined : eq(table.role, role),
            buildPrefixCondition(q),
          ],
        }),
      }),
    }),

    route.get({
      summary: 'Get a user of the workspace',
      description:
        'Includes the status, the role, and the actions that the caller may perform (`allowedActions`).',
      handler: ({ params, meta }) => members.get(params.id, meta.tenant),
    }),

    defineRoute({
      operationId: 'inviteUser',
      stepUp: true,
      method: 'post',
      path: '/settings/users/invite',
      summary: 'Invite a user',
      description:
        'If there is a mail server, the token is mailed to the person; otherwise `invitation.token` is shown only ' +
        'once: pass it on. Inviting a person again ends the previous invitation. Returns 409 if the person is a ' +
        'member. A role that allows more than the caller may do cannot be granted. Emits `user.invited`.',
      tag,
      scope: 'users:write',
      body: NewInvitation,
      response: InvitedUser,
      status: 201,
      errors: ['conflict', 'forbidden', 'invalid_state_transition'],
      redactReplay: withoutToken,
      handler: ({ body, meta }) => invite(body, meta),
    }),

    route.update({
      stepUp: true,
      summary: 'Change the role or status of a user',
      description:
        'Changes the role, or suspends or reactivates the user. Takes effect everywhere within a second. The last ' +
        'active owner cannot lose that role or status (409, `last_owner`). Callers cannot grant or change ' +
        'permissions they do not have. Emits `user.role_changed`, `user.suspended`, `user.reactivated`.',
      body: UserPatch,
      errors: ['forbidden', 'conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => members.patch(params.id, body, meta),
    }),

    route.delete({
      operationId: 'removeUser',
      stepUp: true,
      summary: 'Remove a user from the workspace',
      description:
        'Sessions and API keys stop working in this workspace within a second, API keys permanently; the login ' +
        'stays. Ends an open invitation. The user stays in the list as `deactivated` and may be invited again. A ' +
        '`successor` immediately takes over the open tasks of the user and everything that acts with the rights of ' +
        'the user; without a successor, everything that acts with these rights is suspended (`owner_rights`). The ' +
        'response lists both. Emits `user.deactivated` and `token.revoked`.',
      query: Removal,
      waits: true,
      response: RemovedUser,
      errors: ['forbidden', 'conflict', 'invalid_state_transition'],
      handler: ({ params, query, meta }) => removal.remove(params.id, query.successor, meta),
    }),

    defineRoute({
      operationId: 'listDependents',
      method: 'get',
      path: '/settings/users/:id/dependents',
      summary: 'List what depends on a user',
      description:
        'Returns everything that acts with the rights of the user, is assigned to the user or ends with the user: ' +
        'removing the user would suspend it, or a successor would take it over.',
      tag,
      scope: 'users:write',
      response: UserDependents,
      errors: ['forbidden'],
      handler: ({ params, meta }) => removal.dependents(params.id, meta),
    }),

    defineRoute({
      operationId: 'acceptInvitation',
      method: 'post',
      path: '/auth/invitations/accept',
      summary: 'Accept an invitation',
      description:
        'For a new login, send a name and password; for an existing login with this e-mail address, send its ' +
        'password. Returns a session, as after logging in. A token can be used once; an unknown, used, replaced or ' +
        'expired token returns `invalid_token`. Emits `user.activated`.',
      tag: 'Authentication',
      scope: 'public',
      body: InvitationAcceptance,
      response: Session,
      status: 201,
      errors: ['invalid_token', 'invalid_credentials', 'factor_required', 'version_conflict'],
      idempotency: 'none',
      handler: ({ body, meta }) => accept(body, meta, 'ses'),
    }),
  ]
}

/** The response that may be stored for a repeated request. */
function withoutToken(invited: InvitedUser): InvitedUser {
  return { ...invited, invitation: { ...invited.invitation, token: null, link: null } }
}
