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
      description: 'With invited, suspended and removed (`deactivated`) ones unless filtered by `status`.',
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
      description: 'With the status, the role, and the actions the caller may take (`allowedActions`).',
      handler: ({ params, meta }) => members.get(params.id, meta.tenant),
    }),

    defineRoute({
      operationId: 'inviteUser',
      stepUp: true,
      method: 'post',
      path: '/settings/users/invite',
      summary: 'Invite a user',
      description:
        'With a mail server the token is mailed to the person; without one `invitation.token` is shown ' +
        'only this once; pass it on. Inviting a person again ends the former invitation. 409 for a member. No ' +
        'role can be granted that allows more than the caller may do. Emits `user.invited`.',
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
      summary: 'Change the role of a user, suspend or reactivate',
      description:
        'Takes effect everywhere within a second. The last active owner stays one (409, `last_owner`). Callers ' +
        'cannot grant or change permissions they do not have. Emits `user.role_changed`, `user.suspended`, ' +
        '`user.reactivated`.',
      body: UserPatch,
      errors: ['forbidden', 'conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => members.patch(params.id, body, meta),
    }),

    route.delete({
      operationId: 'removeUser',
      stepUp: true,
      summary: 'Remove a user from the workspace',
      description:
        'Sessions and API keys stop working in this workspace within a second, the keys permanently; the login ' +
        'stays. An open invitation ends. The user stays in the list as `deactivated` and may be invited again. A ' +
        '`successor` immediately takes over what acted with the rights of the person and their open tasks; without one the ' +
        'former is suspended (`owner_rights`). The answer lists both.  Emits `user.deactivated` and `token.revoked`.',
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
        'What acts with their rights, is assigned to them or ends with them: what their removal would suspend, or a successor would ' +
        'take over.',
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
        'A new login gets its name and password; for an existing login with this e-mail send its password. The ' +
        'answer is a session, as after logging in. A token works once; an unknown, used, replaced or expired one ' +
        'is `invalid_token`. Emits `user.activated`.',
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
