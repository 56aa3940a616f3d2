import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { Credentials, NewPassword } from './settings.js'

const AccountToken = z.string().min(1).max(500).meta({ description: 'Token from the e-mail or the link.' })

export const PasswordChange = z
  .strictObject({ currentPassword: Credentials.shape.password, newPassword: NewPassword })
  .meta({
    id: 'PasswordChange',
    example: { currentPassword: 'correct horse battery', newPassword: 'correct horse battery staple' },
  })
export type PasswordChange = z.infer<typeof PasswordChange>

export const PasswordResetRequest = z
  .strictObject({ email: Credentials.shape.email })
  .meta({ id: 'PasswordResetRequest', example: { email: 'ada@example.com' } })

/** `link`: by a link created by an admin or the operator, which proves nothing about the address. */
export const PasswordResetWay = z.enum(['mail', 'link'])
export type PasswordResetWay = z.infer<typeof PasswordResetWay>

export const PasswordReset = z.strictObject({ token: AccountToken, newPassword: NewPassword }).meta({
  id: 'PasswordReset',
  example: { token: 'ops_act_…', newPassword: 'correct horse battery staple' },
})
export type PasswordReset = z.infer<typeof PasswordReset>

export const AddressProof = z
  .strictObject({ token: AccountToken })
  .meta({ id: 'AddressProof', example: { token: 'ops_act_…' } })
export type AddressProof = z.infer<typeof AddressProof>

export const ResetLinkRequest = z
  .strictObject({ email: Credentials.shape.email })
  .meta({ id: 'ResetLinkRequest', example: { email: 'ada@example.com' } })

/** The login whose second factors an operator removes. */
export const FactorRemovalRequest = z
  .strictObject({ email: Credentials.shape.email })
  .meta({ id: 'FactorRemovalRequest', example: { email: 'ada@example.com' } })

const At = z.iso.datetime({ precision: 3 })

export const ResetLink = z
  .object({
    token: z.string().meta({
      description:
        'Token for `POST /auth/password/reset/confirm`. Returned only in this response and valid for one use.',
    }),
    link: z
      .string()
      .nullable()
      .meta({
        description:
          'URL of the page that accepts the token, with the token after the `#`, to be passed on to the person. `null` ' +
          'if the installation has no `PUBLIC_ORIGIN`.',
      }),
    expiresAt: At,
  })
  .meta({ id: 'ResetLink' })
export type ResetLink = z.infer<typeof ResetLink>

/** A password reset link as contained in events. */
const ResetLinkState = z.object({
  id: idSchema('user').meta({ description: 'Id of the login for which the link was created.' }),
  expiresAt: At,
})

export const accountAccessEvents = {
  'account.reset_link_created': resourceEvent(
    ResetLinkState,
    'An admin or the operator has created a password reset link for a person. Reported in the first 20 workspaces they can ' +
      'enter.',
  ),
} satisfies Record<string, EventDefinition>
