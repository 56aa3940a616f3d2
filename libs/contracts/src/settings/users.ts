import { z } from 'zod'
import { allowedActionsSchema, requireForAll } from '../itsm/allowed-actions.js'
import { PasswordReset } from './account-access.js'
import { FactorAssertion, FactorCode } from './factors.js'
import { Credentials, MembershipStatus, NewPassword, UserState, Workspace } from './settings.js'

const At = z.iso.datetime({ precision: 3 })
const Email = Credentials.shape.email
const PersonName = z.string().trim().min(1).max(100).meta({ example: 'Ada Lovelace' })

/** All actions on a user of a workspace, in display order. */
export const userActions = ['invite', 'accept', 'change_role', 'suspend', 'reactivate', 'remove'] as const
export const UserAction = z.enum(userActions).meta({
  id: 'UserAction',
  description: '`invite`: send a new invitation. `accept` is for the invited person alone.',
})
export type UserAction = z.infer<typeof UserAction>

export const User = UserState.extend({
  invitationExpiresAt: At.nullable().meta({ description: 'Set while the user is invited.' }),
  version: Workspace.shape.version,
  allowedActions: allowedActionsSchema(
    UserAction,
    requireForAll(userActions, 'users:write', { accept: null }),
    'the present status',
  ),
}).meta({ id: 'User' })
export type User = z.infer<typeof User>

export const UserFilters = z.object({
  status: MembershipStatus.optional(),
  role: z.string().max(50).optional().meta({ description: 'Name of a role.', example: 'developer' }),
  q: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'How the name or the e-mail begins, in any case.', example: 'ada' }),
})

export const NewInvitation = z
  .strictObject({
    email: Email,
    role: UserState.shape.role,
    name: PersonName.optional().meta({ description: 'Shown until the person has accepted.' }),
    expiresInHours: z.int().min(1).max(720).default(168),
  })
  .meta({ id: 'NewInvitation', example: { email: 'grace@example.com', role: 'agent', name: 'Grace' } })
export type NewInvitation = z.infer<typeof NewInvitation>

const Invitation = z
  .object({
    token: z
      .string()
      .nullable()
      .meta({
        description:
          'Shown this once, to hand on to the invited person. Null when it was mailed, and when the answer is ' +
          'replayed by Idempotency-Key.',
      }),
    link: z
      .string()
      .nullable()
      .meta({
        description:
          'Page at which the invited person accepts, with the token behind the `#`. Null where the token is, and where the installation ' +
          'has no `PUBLIC_ORIGIN`.',
      }),
    mailed: z.boolean().meta({ description: 'Whether the token goes to the person by mail.' }),
    acceptPath: z.string().meta({ example: '/api/v1/auth/invitations/accept' }),
    expiresAt: At,
  })
  .meta({ id: 'Invitation' })

export const InvitedUser = User.extend({ invitation: Invitation }).meta({ id: 'InvitedUser' })
export type InvitedUser = z.infer<typeof InvitedUser>

export const UserPatch = z
  .strictObject({
    role: UserState.shape.role,
    status: z.enum(['active', 'suspended']).meta({ description: 'Suspends, or lets in again.' }),
  })
  .partial()
  .meta({ id: 'UserPatch', example: { role: 'developer' } })
export type UserPatch = z.infer<typeof UserPatch>

export const InvitationAcceptance = z
  .strictObject({
    token: z.string().min(1).max(500),
    name: PersonName.optional().meta({ description: 'Of a new login; one that exists keeps its own.' }),
    password: NewPassword.optional().meta({
      description: 'Of a new login: its password from now on. Of one that exists: its present password.',
    }),
  })
  .meta({
    id: 'InvitationAcceptance',
    example: { token: 'ops_inv_…', name: 'Grace', password: 'correct horse battery staple' },
  })
export type InvitationAcceptance = z.infer<typeof InvitationAcceptance>

/** With a token of `POST /auth/password/reset`, or of a link. */
export const ResetSignIn = z
  .strictObject({ resetToken: PasswordReset.shape.token, newPassword: NewPassword })
  .meta({
    id: 'ResetSignIn',
    example: { resetToken: 'ops_act_…', newPassword: 'correct horse battery staple' },
  })
export type ResetSignIn = z.infer<typeof ResetSignIn>

/** Credentials accepted from a program or a person at a terminal. */
export const LogIn = z.union([Credentials, FactorCode, FactorAssertion]).meta({
  id: 'LogIn',
  example: { email: 'ada@example.com', password: 'correct horse battery staple' },
})
export type LogIn = z.infer<typeof LogIn>

/** Credentials accepted from a browser. */
export const BrowserSignIn = z
  .union([Credentials, InvitationAcceptance, ResetSignIn, FactorCode, FactorAssertion])
  .meta({
    id: 'BrowserSignIn',
    example: { email: 'ada@example.com', password: 'correct horse battery staple' },
  })
export type BrowserSignIn = z.infer<typeof BrowserSignIn>
