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
      description: 'Authenticator apps and passkeys of your login, and how many recovery codes are left.',
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
        'Returns the secret, only this once, as text and as the URI of a QR code. It is active once a code confirms it, and ' +
        'replaces an unconfirmed one.',
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
        'Needs a code it shows. With the first factor of a login all its other sessions end. Emits `factor.added`.',
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
        'Returns the options for `navigator.credentials.create()`. Passkeys are bound to the host of `PUBLIC_ORIGIN`: without one, ' +
        'or with an IP address, this is a 409 (`passkeys_unavailable`).',
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
        'The credential a browser has made for the challenge, which works once. With the first factor of a login all its ' +
        'other sessions end. Emits `factor.added`.',
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
      description: 'The name tells your factors apart. Emits no event.',
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
        'All other sessions of the login end; with its last factor its recovery codes are deleted. Emits `factor.removed`.',
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
        'Ten codes, shown only this once. Each replaces a factor once. The former codes become invalid. Emits ' +
        '`recovery_codes.created`.',
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
        'For a user who has lost them: all factors and recovery codes of the login are removed, and its sessions end. Only of an ' +
        'active user who is a member of no other workspace, and may do no more than the caller. API keys are refused. ' +
        'Emits `factor.removed`.',
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
        'For a person who has lost them, in all workspaces the login is used in: all factors and recovery codes are removed, its sessions end, and ' +
        'a mail goes to its proven address. Never of your own login. Where there is none to remove, nothing happens. Emits `factor.removed` ' +
        'in the workspaces of the login.',
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
