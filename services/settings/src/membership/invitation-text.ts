import type { Instant } from '@opsplane/contracts'
import { pageLink } from '../account/page-link.js'

export interface InvitationWords {
  workspaceName: string
  inviterName: string
  role: string
  token: string
  expiresAt: Instant
  publicOrigin: string | undefined
}

/** Path of the operation that accepts an invitation, through the gateway. */
export const acceptPath = '/api/v1/auth/invitations/accept'

/** Subject and text of the mail with an invitation. */
export function invitationText(words: InvitationWords) {
  const { workspaceName, inviterName, role, token, expiresAt, publicOrigin } = words
  const page = pageLink(publicOrigin, 'invitation', token)
  const way =
    page === null
      ? [
          'To accept, send the token below, with a password of at least 12 characters and your name:',
          '',
          `Accept:  POST ${acceptPath}`,
          `Token:   ${token}`,
        ]
      : ['To accept, open this page:', '', page, '']
  const lines = [
    `${inviterName} invites you to the workspace ${workspaceName}, as ${role}.`,
    '',
    ...way,
    `Expires: ${expiresAt}`,
    '',
    'If you have a login with this e-mail already, accept with the password of that login.',
    'It works once. If you do not know what this is about, do nothing.',
  ]
  return { subject: `Invitation to ${workspaceName}`, text: `${lines.join('\n')}\n` }
}
