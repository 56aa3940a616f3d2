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

/** Ways back into a login where no mail can bring one. */
export function resetLinkRoutes(links: ResetLinks): Route[] {
  return [
    defineRoute({
      ...common,
      operationId: 'createUserResetLink',
      path: '/settings/users/:id/reset-link',
      summary: 'Create a link by which a user sets a new password',
      description:
        'Where no mail server is configured: good for an hour, once, and in place of the former one, to be handed on to the user. Only for ' +
        'an active user who is a member of no other workspace and may do no more than the caller, both now and when it is used; for ' +
        'others the operator creates it (`POST /platform/accounts/reset-link`). By it the sessions of the user end, no address is proven ' +
        'and no second factor removed. Not for API keys. Emits `account.reset_link_created`.',
      tag: 'Users',
      scope: 'credentials:manage',
      handler: ({ params, meta }) => links.forMember(params.id, meta),
    }),

    defineRoute({
      ...common,
      operationId: 'createAccountResetLink',
      path: '/platform/accounts/reset-link',
      summary: 'Create a link with which a person sets a new password',
      description:
        'For any login, in whichever workspaces it is used: good for an hour, once, and in place of the former one. By it the sessions of ' +
        'the login end, no address is proven and no second factor removed. Emits `account.reset_link_created`.',
      tag: 'Platform',
      scope: 'authenticated',
      workspace: 'none',
      operator: true,
      body: ResetLinkRequest,
      handler: ({ body, meta }) => links.forAnyone(body.email, meta),
    }),
  ]
}
