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
  description: '`invite` sends a new invitation. `accept` is available only to the invited person.',
})
export type UserAction = z.infer<typeof UserAction>

export const User = UserState.extend({
  invitationExpiresAt: At.nullable().meta({
    description: 'Expiry of the invitation, set while the user is invited.',
  }),
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
    .meta({ description: 'Beginning of the name or the e-mail address, case-insensitive.', example: 'ada' }),
})

export const NewInvitation = z
  .strictObject({
    email: Email,
    role: UserState.shape.role,
    name: PersonName.optional().meta({
      description: 'Name shown until the person has accepted the invitation.',
    }),
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
          'Token to be passed on to the invited person. Returned only in this response; `null` if the token was mailed ' +
          'or the response is replayed by Idempotency-Key.',
      }),
    link: z
      .string()
      .nullable()
      .meta({
        description:
          'URL of the page on which the invited person accepts, with the token after the `#`. `null` if the token is ' +
          '`null` or the installation has no `PUBLIC_ORIGIN`.',
      }),
    mailed: z.boolean().meta({ description: 'Whether the token is sent to the person by e-mail.' }),
    acceptPath: z.string().meta({ example: '/api/v1/auth/invitations/accept' }),
    expiresAt: At,
  })
  .meta({ id: 'Invitation' })

export const InvitedUser = User.extend({ invitation: Invitation }).meta({ id: 'InvitedUser' })
export type InvitedUser = z.infer<typeof InvitedUser>

export const UserPatch = z
  .strictObject({
    role: UserState.shape.role,
    status: z
      .enum(['active', 'suspended'])
      .meta({ description: 'New status: `suspended` suspends the user, `active` reactivates the user.' }),
  })
  .partial()
  .meta({ id: 'UserPatch', example: { role: 'developer' } })
export type UserPatch = z.infer<typeof UserPatch>

export const InvitationAcceptance = z
  .strictObject({
    token: z.string().min(1).max(500),
    name: PersonName.optional().meta({
      description: 'Name of a new login; an existing login keeps its name.',
    }),
    password: NewPassword.optional().meta({
      description:
        'Password. For a new login: the password to set. For an existing login: its current password.',
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
