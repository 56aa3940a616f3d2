import type { Instant } from '@opsplane/contracts'
import type { MailPurpose } from './account-tokens.js'
import { pageLink } from './page-link.js'

interface Wording {
  subject: string
  intro: string
  /** Text used if the address of the page is unknown. */
  request: string
  link: string
  path: string
  fields: string
}

const wordings: Record<MailPurpose, Wording> = {
  password_reset: {
    subject: 'A new password for your login',
    intro: 'A new password was requested for the login with this e-mail address.',
    request: 'To set one, send the token below:',
    link: 'To set one, open this page:',
    path: '/api/v1/auth/password/reset/confirm',
    fields: '{"token": "…", "newPassword": "at least 12 characters"}',
  },
  address_proof: {
    subject: 'Your e-mail address',
    intro: 'A login with this e-mail address is to be shown as yours.',
    request: 'To prove that the address is yours, send the token below in the session you asked for it with:',
    link: 'To prove that the address is yours, open this page in the browser you asked for it with:',
    path: '/api/v1/auth/address/prove/confirm',
    fields: '{"token": "…"}',
  },
}

export interface MailedTokenWords {
  token: string
  expiresAt: Instant
  publicOrigin: string | undefined
}

/** Subject and text of a mail about a login. */
export function accountMailText(purpose: MailPurpose, { token, expiresAt, publicOrigin }: MailedTokenWords) {
  const { subject, intro, request, link, path, fields } = wordings[purpose]
  const page = pageLink(publicOrigin, purpose, token)
  const way =
    page === null
      ? [request, '', `Send:    POST ${path}`, `         ${fields}`, `Token:   ${token}`]
      : [link, '', page, '']
  const lines = [
    intro,
    ...way,
    `Expires: ${expiresAt}`,
    '',
    `It works once. If you did not ask for this, do nothing, and do not share the ${page === null ? 'token' : 'address'}.`,
  ]
  return { subject, text: `${lines.join('\n')}\n` }
}
