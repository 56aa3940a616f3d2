import {
  Factor,
  FactorRemovalRequest,
  Factors,
  NewFactor,
  NewPasskey,
  PasskeyEnrolment,
  RecoveryCodes,
  TotpConfirmation,
  TotpEnrolment,
} from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { FactorWork } from './factors.js'

const own = { tag: 'Authentication', scope: 'authenticated', workspace: 'none' } as const
/** No response is stored for repeated requests, because it may contain a secret that is shown once. */
const change = { ...own, stepUp: true, idempotency: 'none' } as const

export interface FactorRemoval {
  /**
   * Removes factors as an admin of the workspace. A login belongs to no workspace, so it must have access to no other
   * one, and its person must have no more permissions than the admin. Throws `not_found` and `forbidden`.
   */
  forMember(userId: string, meta: RequestMeta): Promise<void>
  /**
   * Removes factors of any login but the caller's own, as the operator of the installation. Throws `not_found` and
   * `forbidden`.
   */
  forAnyone(email: string, meta: RequestMeta): Promise<void>
}

/** Routes for the second factors of the caller's own login, in a session. */
export function factorRoutes(factors: FactorWork, removal: FactorRemoval): Route[] {
  return [
    defineRoute({
      ...own,
      operationId: 'listFactors',
      method: 'get',
      path: '/auth/factors',
      summary: 'List your second factors',
      description:
        'Returns the authenticator apps and passkeys of your login, and the number of remaining recovery codes.',
      response: Factors,
      errors: ['forbidden'],
      handler: ({ meta }) => factors.list(meta),
    }),

    defineRoute({
      ...change,
      operationId: 'beginTotp',
      method: 'post',
      path: '/auth/factors/totp',
      summary: 'Add an authenticator app',
      description:
        'Returns the secret once, as text and as the URI for a QR code. The app becomes active when a code confirms ' +
        'it, and replaces an unconfirmed app.',
      body: NewFactor,
      response: TotpEnrolment,
      status: 201,
      errors: ['forbidden', 'conflict'],
      handler: ({ body, meta }) => factors.beginTotp(body, meta),
    }),

    defineRoute({
      ...change,
      operationId: 'confirmTotp',
      method: 'post',
      path: '/auth/factors/totp/confirm',
      summary: 'Confirm an authenticator app',
      description:
        'Requires a code that the app shows. Adding the first factor of a login ends all its other sessions. Emits ' +
        '`factor.added`.',
      body: TotpConfirmation,
      response: Factor,
      errors: ['not_found', 'forbidden', 'conflict'],
      handler: ({ body, meta }) => factors.confirmTotp(body, meta),
    }),

    defineRoute({
      ...change,
      operationId: 'beginPasskey',
      method: 'post',
      path: '/auth/factors/passkeys/options',
      summary: 'Start adding a passkey',
      description:
        'Returns the options for `navigator.credentials.create()`. Passkeys are bound to the host of ' +
        '`PUBLIC_ORIGIN`: if it is not set or is an IP address, returns 409 (`passkeys_unavailable`).',
      response: PasskeyEnrolment,
      status: 201,
      errors: ['forbidden', 'conflict'],
      handler: ({ meta }) => factors.beginPasskey(meta),
    }),

    defineRoute({
      ...change,
      operationId: 'addPasskey',
      method: 'post',
      path: '/auth/factors/passkeys',
      summary: 'Add a passkey',
      description:
        'Requires the credential that a browser created for the challenge; a challenge can be used once. Adding the ' +
        'first factor of a login ends all its other sessions. Emits `factor.added`.',
      body: NewPasskey,
      response: Factor,
      status: 201,
      errors: ['invalid_token', 'forbidden', 'conflict'],
      handler: ({ body, meta }) => factors.addPasskey(body, meta),
    }),

    defineRoute({
      ...change,
      operationId: 'renameFactor',
      method: 'patch',
      path: '/auth/factors/:id',
      summary: 'Rename a second factor',
      description: 'The name distinguishes your factors. Emits no event.',
      body: NewFactor,
      response: Factor,
      errors: ['forbidden'],
      handler: ({ params, body, meta }) => factors.rename(params.id, body, meta),
    }),

    defineRoute({
      ...change,
      operationId: 'removeFactor',
      method: 'delete',
      path: '/auth/factors/:id',
      summary: 'Remove a second factor',
      description:
        'Ends all other sessions of the login; removing the last factor also deletes the recovery codes. Emits ' +
        '`factor.removed`.',
      errors: ['forbidden'],
      handler: ({ params, meta }) => factors.remove(params.id, meta),
    }),

    defineRoute({
      ...change,
      operationId: 'createRecoveryCodes',
      method: 'post',
      path: '/auth/recovery-codes',
      summary: 'Create recovery codes',
      description:
        'Returns ten codes, shown only once. Each code replaces a factor once. The previous codes become invalid. ' +
        'Emits `recovery_codes.created`.',
      response: RecoveryCodes,
      status: 201,
      errors: ['forbidden', 'conflict'],
      handler: ({ meta }) => factors.renewRecoveryCodes(meta),
    }),

    defineRoute({
      operationId: 'removeUserFactors',
      stepUp: true,
      method: 'delete',
      path: '/settings/users/:id/factors',
      summary: 'Remove the second factors of a user',
      description:
        'For a user who has lost all second factors: removes all factors and recovery codes of the login and ends ' +
        'its sessions. Allowed only for an active user who is a member of no other workspace and has no permission ' +
        'the caller lacks. API keys are refused. Emits `factor.removed`.',
      tag: 'Users',
      scope: 'credentials:manage',
      errors: ['forbidden'],
      handler: ({ params, meta }) => removal.forMember(params.id, meta),
    }),

    defineRoute({
      operationId: 'removeAccountFactors',
      stepUp: true,
      method: 'post',
      path: '/platform/accounts/remove-factors',
      summary: 'Remove the second factors of a login',
      description:
        'For a person who has lost all second factors, in all workspaces in which the login is used: removes all ' +
        'factors and recovery codes, ends the sessions of the login, and sends a mail to its proven address. Refused ' +
        'for your own login. If there is nothing to remove, nothing happens. Emits `factor.removed` in the ' +
        'workspaces of the login.',
      tag: 'Platform',
      scope: 'authenticated',
      workspace: 'none',
      operator: true,
      body: FactorRemovalRequest,
      errors: ['not_found', 'forbidden'],
      idempotency: 'none',
      handler: ({ body, meta }) => removal.forAnyone(body.email, meta),
    }),
  ]
}
