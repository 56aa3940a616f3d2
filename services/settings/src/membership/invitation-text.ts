import type { Instant } from '@opsplane/contracts'

export interface InvitationWords {
  workspaceName: string
  inviterName: string
  role: string
  token: string
  expiresAt: Instant
}

/** Where an invitation is accepted, through the gateway. */
export const acceptPath = '/api/v1/auth/invitations/accept'

/** Subject and text of the mail that brings an invitation. */
export function invitationText({ workspaceName, inviterName, role, token, expiresAt }: InvitationWords) {
  const lines = [
    `${inviterName} invites you to the workspace ${workspaceName}, as ${role}.`,
    '',
    'To accept, send the token below, with a password of at least 12 characters and your name:',
    '',
    `Accept:  POST ${acceptPath}`,
    `Token:   ${token}`,
    `Expires: ${expiresAt}`,
    '',
    'If you have a login with this e-mail already, send the password of that login.',
    'The token works once. If you do not know what this is about, do nothing.',
  ]
  return { subject: `Invitation to ${workspaceName}`, text: `${lines.join('\n')}\n` }
}
