import {
  AddressProof,
  FactorChallenge,
  PasswordChange,
  PasswordReset,
  PasswordResetRequest,
  StepUp,
  StepUpProof,
  stepUpMs,
} from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { setSessionCookie } from '../session/session-cookie.js'
import type { AccountAccess } from './access.js'
import type { ResetPassword } from './password-reset.js'

const common = {
  method: 'post',
  tag: 'Authentication',
  idempotency: 'none',
} as const
const own = { ...common, scope: 'authenticated', workspace: 'none' } as const

/** Routes for the password and the e-mail address of a login. */
export function accessRoutes(access: AccountAccess, resetPassword: ResetPassword): Route[] {
  return [
    defineRoute({
      ...own,
      operationId: 'stepUp',
      ofSession: true,
      path: '/auth/step-up',
      summary: 'Step up the session',
      description:
        'Requires the session of a browser, whose cookie is replaced. Requires the password if the login has no ' +
        'second factor, or else the answer to a challenge: a password then returns `factor_required`, with a ' +
        'challenge in its details. For the next ten minutes, as after a sign-in, the session may call operations ' +
        'that otherwise return `step_up_required`. Emits `session.stepped_up`.',
      body: StepUpProof,
      response: StepUp,
      status: 200,
      errors: ['forbidden', 'invalid_credentials', 'factor_required', 'invalid_token'],
      handler: async ({ body, meta }) => {
        setSessionCookie(meta, await access.stepUp(body, meta))
        return { until: new Date(Date.parse(meta.now) + stepUpMs).toISOString() }
      },
    }),

    defineRoute({
      ...own,
      operationId: 'beginStepUp',
      ofSession: true,
      path: '/auth/step-up/options',
      summary: 'Start a step-up',
      description:
        'Returns a challenge for a second factor of the login, for use with `POST /auth/step-up`. Returns 409 if the ' +
        'login has no second factor: in that case, step up with the password.',
      response: FactorChallenge,
      status: 200,
      errors: ['forbidden', 'conflict'],
      handler: ({ meta }) => access.beginStepUp(meta),
    }),

    defineRoute({
      ...own,
      operationId: 'changePassword',
      path: '/auth/password/change',
      summary: 'Change your password',
      description:
        'Requires the current password and a session. Ends all other sessions; API keys stay valid. Emits ' +
        '`account.password_changed`.',
      body: PasswordChange,
      errors: ['forbidden', 'invalid_credentials'],
      handler: ({ body, meta }) => access.changePassword(body, meta),
    }),

    defineRoute({
      ...common,
      scope: 'public',
      operationId: 'requestPasswordReset',
      path: '/auth/password/reset',
      summary: 'Request a password reset',
      description:
        'Mails a token, valid for an hour, to the address if a login with this address exists; the response is the ' +
        'same in either case. Returns 409 (`no_mail_server`) if there is no mail server.',
      body: PasswordResetRequest,
      errors: ['conflict'],
      handler: ({ body, meta }) => access.requestReset(body.email, meta),
    }),

    defineRoute({
      ...common,
      scope: 'public',
      operationId: 'resetPassword',
      path: '/auth/password/reset/confirm',
      summary: 'Set a new password',
      description:
        'Requires the token of a mail or a link, which can be used once. Ends all sessions of the login. The token ' +
        'of a mail also proves the address; if the address was not proven before, the API keys of the person are ' +
        'revoked, because another person may have created them. Emits `account.password_reset`.',
      body: PasswordReset,
      errors: ['invalid_token'],
      handler: async ({ body, meta }) => void (await resetPassword(body, meta)),
    }),

    defineRoute({
      ...own,
      operationId: 'requestAddressProof',
      path: '/auth/address/prove',
      summary: 'Request a proof of your e-mail address',
      description: 'Mails a token, valid for an hour, to the address of your login.',
      errors: ['forbidden', 'conflict'],
      handler: ({ meta }) => access.requestProof(meta),
    }),

    defineRoute({
      ...own,
      operationId: 'proveAddress',
      path: '/auth/address/prove/confirm',
      summary: 'Prove your e-mail address',
      description:
        'Requires the token of the mail and a session of the same login. Emits `account.address_proven`, and ' +
        '`user.address_proven` in each workspace.',
      body: AddressProof,
      errors: ['forbidden', 'invalid_token'],
      handler: ({ body, meta }) => access.prove(body, meta),
    }),
  ]
}
