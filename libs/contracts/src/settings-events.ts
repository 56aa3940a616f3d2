import { AuditExport } from './audit.js'
import { type EventDefinition, resourceEvent } from './catalog.js'
import { idSchema } from './ids.js'
import { Account, SecretState, TokenState, UserState, WorkspaceState } from './settings.js'

export const settingsEvents = {
  'account.created': resourceEvent(Account, 'A login was created. Belongs to no workspace.'),
  'workspace.created': resourceEvent(WorkspaceState, 'A workspace was created.'),
  'workspace.updated': resourceEvent(WorkspaceState, 'Name or settings of the workspace changed.'),
  'user.activated': resourceEvent(UserState, 'A user can enter the workspace from now on.'),
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
  'secret.deleted': resourceEvent(SecretState, 'A secret was deleted.'),
  'audit.exported': resourceEvent(AuditExport, 'Somebody took a copy of the audit log.'),
} satisfies Record<string, EventDefinition>
export type SettingsEventType = keyof typeof settingsEvents
