import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { accountAccessEvents, PasswordResetWay } from './account-access.js'
import { AuditExport } from './audit.js'
import { RoleState } from './roles.js'
import { SecretState } from './secrets.js'
import { Account, TokenState, UserState, WorkspaceState } from './settings.js'

export const settingsEvents = {
  'account.created': resourceEvent(Account, 'A login was created. Belongs to no workspace.'),
  'account.claimed': resourceEvent(
    Account,
    'The person behind a login made by an invitation has set its password. Belongs to no workspace.',
  ),
  'account.password_changed': resourceEvent(
    Account,
    'A person has changed the password of their login. Belongs to no workspace.',
  ),
  'account.password_reset': resourceEvent(
    Account,
    'A person has reset their password, by a mail to the address of the login or by a reset link. Belongs to no workspace.',
    { by: PasswordResetWay },
  ),
  'account.address_proven': resourceEvent(
    Account,
    'The e-mail address of a login was proven by a mail to it. Belongs to no workspace.',
  ),
  ...accountAccessEvents,
  'workspace.created': resourceEvent(WorkspaceState, 'A workspace was created.'),
  'workspace.updated': resourceEvent(WorkspaceState, 'Name or settings of the workspace changed.'),
  'user.invited': resourceEvent(UserState, 'A person was invited. Their earlier invitation has ended.', {
    expiresAt: z.iso.datetime({ precision: 3 }),
  }),
  'user.activated': resourceEvent(UserState, 'A user can enter the workspace from now on.'),
  'user.address_proven': resourceEvent(UserState, 'The e-mail address of a user is now known to be theirs.'),
  'user.role_changed': resourceEvent(UserState, 'A user got another role.'),
  'user.suspended': resourceEvent(UserState, 'A user is kept out of the workspace for the time being.'),
  'user.reactivated': resourceEvent(UserState, 'A suspended user can enter the workspace again.'),
  'user.deactivated': resourceEvent(UserState, 'A user was removed from the workspace.'),
  'role.created': resourceEvent(RoleState, 'A custom role was created.'),
  'role.updated': resourceEvent(RoleState, 'What a custom role allows, or its description, has changed.'),
  'role.deleted': resourceEvent(RoleState, 'A custom role was deleted.'),
  'token.created': resourceEvent(TokenState, 'An API key was created.'),
  'token.rotated': resourceEvent(TokenState, 'An API key was replaced by its successor.'),
  'token.revoked': resourceEvent(TokenState, 'An API key stopped being valid.'),
  'token.reuse_detected': resourceEvent(
    TokenState,
    'A rotated API key was used after its overlap, so it may be in strange hands. Its successors are revoked.',
    { successorId: idSchema('token') },
  ),
  'secret.created': resourceEvent(SecretState, 'A secret was stored.'),
  'secret.rotated': resourceEvent(SecretState, 'A secret got a new value.'),
  'secret.hosts_added': resourceEvent(
    SecretState,
    'A definition that names the secret was saved, which added the host it is meant for.',
    { added: z.array(z.string()) },
  ),
  'secret.deleted': resourceEvent(SecretState, 'A secret was deleted.'),
  'audit.exported': resourceEvent(AuditExport, 'The audit log was exported.'),
} satisfies Record<string, EventDefinition>
