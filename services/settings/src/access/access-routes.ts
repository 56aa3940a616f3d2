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
import { z } from 'zod'
import { setSessionCookie } from '../session/session-cookie.js'
import type { AccountAccess } from './access.js'
import type { ResetPassword } from './password-reset.js'

const common = {
  method: 'post',
  tag: 'Authentication',
  response: z.void(),
  status: 204,
  idempotency: 'none',
} as const
const own = { ...common, scope: 'authenticated', workspace: 'none' } as const

/** The password and the address of a login. */
export function accessRoutes(access: AccountAccess, resetPassword: ResetPassword): Route[] {
  return [
    defineRoute({
      ...own,
      operationId: 'stepUp',
      ofSession: true,
      path: '/auth/step-up',
      summary: 'Prove once more who you are',
      description:
        'In the session of a browser, whose cookie is replaced: by the password of a login without a second factor, by the answer to a ' +
        'challenge of one with it. A password is then answered `factor_required`, with a challenge in its details. For ten minutes from then on, as from a sign-in, it may ' +
        'call the operations that answer `step_up_required` otherwise. Emits `session.stepped_up`.',
      body: StepUpProof,
      response: StepUp,
      status: 200,
      errors: ['forbidden', 'invalid_credentials', 'factor_required', 'invalid_token', 'rate_limited'],
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
      summary: 'Begin to prove once more who you are',
      description:
        'Answers a challenge to a second factor of the login, for `POST /auth/step-up`. A 409 where it has none: then the password does.',
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
        'With the present one, in a session, which stays: all others end. API keys stay. Emits `account.password_changed`.',
      body: PasswordChange,
      errors: ['forbidden', 'invalid_credentials', 'rate_limited'],
      handler: ({ body, meta }) => access.changePassword(body, meta),
    }),

    defineRoute({
      ...common,
      scope: 'public',
      operationId: 'requestPasswordReset',
      path: '/auth/password/reset',
      summary: 'Ask for a new password',
      description:
        'Mails a token to the address, good for an hour, if there is a login with it: the answer is the same in any ' +
        'case. Without a mail server it is a 409 (`no_mail_server`).',
      body: PasswordResetRequest,
      errors: ['conflict', 'rate_limited'],
      handler: ({ body, meta }) => access.requestReset(body.email, meta),
    }),

    defineRoute({
      ...common,
      scope: 'public',
      operationId: 'resetPassword',
      path: '/auth/password/reset/confirm',
      summary: 'Set a new password',
      description:
        'With the token of a mail or a link, which works once. All sessions of the login end. A mail proves its address as well; if ' +
        'it was not proven before, the API keys of the person are revoked, as another person may have created them. Emits ' +
        '`account.password_reset`.',
      body: PasswordReset,
      errors: ['invalid_token', 'rate_limited'],
      handler: async ({ body, meta }) => void (await resetPassword(body, meta)),
    }),

    defineRoute({
      ...own,
      operationId: 'requestAddressProof',
      path: '/auth/address/prove',
      summary: 'Have your e-mail address proven',
      description: 'Mails a token to the address of your login, good for an hour.',
      errors: ['forbidden', 'conflict', 'rate_limited'],
      handler: ({ meta }) => access.requestProof(meta),
    }),

    defineRoute({
      ...own,
      operationId: 'proveAddress',
      path: '/auth/address/prove/confirm',
      summary: 'Prove your e-mail address',
      description:
        'With the token of the mail, in a session of the same login. Emits `account.address_proven`, and ' +
        '`user.address_proven` in each workspace.',
      body: AddressProof,
      errors: ['forbidden', 'invalid_token', 'rate_limited'],
      handler: ({ body, meta }) => access.prove(body, meta),
    }),
  ]
}
