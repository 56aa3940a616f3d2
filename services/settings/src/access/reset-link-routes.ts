import { ResetLink, ResetLinkRequest } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { ResetLinks } from './reset-links.js'

const common = {
  method: 'post',
  stepUp: true,
  response: ResetLink,
  status: 201,
  errors: ['not_found', 'forbidden', 'conflict'],
  idempotency: 'none',
} as const

/** Routes to recover a login without a mail server. */
export function resetLinkRoutes(links: ResetLinks): Route[] {
  return [
    defineRoute({
      ...common,
      operationId: 'createUserResetLink',
      path: '/settings/users/:id/reset-link',
      summary: 'Create a password reset link for a user',
      description:
        'For installations without a mail server. The link is valid for an hour, can be used once, and replaces the ' +
        'previous link; pass it on to the user. Allowed only for an active user who is a member of no other ' +
        'workspace and has no permission the caller lacks, both when the link is created and when it is used; for ' +
        'other users, the operator creates the link (`POST /platform/accounts/reset-link`). Using the link ends the ' +
        'sessions of the user, but proves no address and removes no second factor. API keys are refused. Emits ' +
        '`account.reset_link_created`.',
      tag: 'Users',
      scope: 'credentials:manage',
      handler: ({ params, meta }) => links.forMember(params.id, meta),
    }),

    defineRoute({
      ...common,
      operationId: 'createAccountResetLink',
      path: '/platform/accounts/reset-link',
      summary: 'Create a password reset link for any login',
      description:
        'Works regardless of the workspaces in which the login is used. The link is valid for an hour, can be used ' +
        'once, and replaces the previous link. Using the link ends the sessions of the login, but proves no address ' +
        'and removes no second factor. Emits `account.reset_link_created`.',
      tag: 'Platform',
      scope: 'authenticated',
      workspace: 'none',
      operator: true,
      body: ResetLinkRequest,
      handler: ({ body, meta }) => links.forAnyone(body.email, meta),
    }),
  ]
}
