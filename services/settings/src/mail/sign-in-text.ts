import type { SignInNotice } from './mail-queue.js'

/** Browsers also name those they are compatible with, so the first match in this order applies. */
const programs = [
  ['Edge', /\bEdg/],
  ['Opera', /\bOPR\//],
  ['Firefox', /\bFirefox\//],
  ['Chrome', /\bChrome\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
  ['the opsplane command', /^opsplane/],
] as const
const systems = [
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['an iPhone or iPad', /\b(?:iPhone|iPad)\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
] as const

type Known = readonly (readonly [string, RegExp])[]

/** Returns only names from these lists, because a client may send the address of a phishing page as its name. */
export function detectProgram(userAgent: string): string {
  const findName = (known: Known) => known.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const program = findName(programs) ?? 'an unknown program'
  const system = findName(systems)
  return system === undefined ? program : `${program} on ${system}`
}

/** Subject and text of the mail about a sign-in from an unknown device, or about factors that another person removed. */
export function signInText({ what, at, address, userAgent }: SignInNotice, publicOrigin: string | undefined) {
  if (what === 'factors_removed') return factorsRemovedText(at, publicOrigin)
  const way =
    publicOrigin === undefined
      ? [
          'end all sessions (DELETE /api/v1/auth/sessions) and set another password (POST /api/v1/auth/password/change).',
        ]
      : ['end the session and set another password:', '', `${publicOrigin}/account`]
  const lines = [
    'There was a sign-in to your login from a device that has not used it in the last 90 days.',
    '',
    `When:    ${at}`,
    `Where:   ${address === '' ? 'an unknown address' : address}`,
    `By:      ${detectProgram(userAgent)}`,
    '',
    'If it was you, there is nothing to do. If not, another person knows how to sign in as you:',
    ...way,
  ]
  return { subject: 'New sign-in', text: `${lines.join('\n')}\n` }
}

function factorsRemovedText(at: string, publicOrigin: string | undefined) {
  const where = publicOrigin === undefined ? 'POST /api/v1/auth/factors/totp' : `${publicOrigin}/account`
  const lines = [
    'An administrator has removed all second factors and recovery codes of your login, and ended its sessions.',
    'From now on the password alone opens it.',
    '',
    `When:    ${at}`,
    '',
    'If you have asked for it, sign in and add a factor again:',
    where,
    'If not, tell your administrator, and set another password.',
  ]
  return { subject: 'Second factors removed', text: `${lines.join('\n')}\n` }
}
