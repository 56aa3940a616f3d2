import type { Instant } from '@opsplane/contracts'
import type { TokenPurpose } from './mailed-tokens.js'

interface Wording {
  subject: string
  intro: string
  path: string
  fields: string
}

const wordings: Record<TokenPurpose, Wording> = {
  password_reset: {
    subject: 'A new password for your login',
    intro:
      'Somebody asked for a new password for the login with this e-mail address. To set one, send the token below:',
    path: '/api/v1/auth/password/reset/confirm',
    fields: '{"token": "…", "newPassword": "at least 12 characters"}',
  },
  address_proof: {
    subject: 'Your e-mail address',
    intro:
      'To prove that this e-mail address is yours, send the token below in the session you asked for it with:',
    path: '/api/v1/auth/address/prove/confirm',
    fields: '{"token": "…"}',
  },
}

/** Subject and text of a mail about a login. */
export function accountMailText(
  purpose: TokenPurpose,
  { token, expiresAt }: { token: string; expiresAt: Instant },
) {
  const { subject, intro, path, fields } = wordings[purpose]
  const lines = [
    intro,
    '',
    `Send:    POST ${path}`,
    `         ${fields}`,
    `Token:   ${token}`,
    `Expires: ${expiresAt}`,
    '',
    'The token works once. If you did not ask for this, do nothing, and give the token to nobody.',
  ]
  return { subject, text: `${lines.join('\n')}\n` }
}
