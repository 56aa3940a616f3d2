import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sha256Hex } from '@opsplane/runtime'

/**
 * `key` for API keys, `ses` for sessions, `web` for sessions in a browser's cookie; `inv` for invitations, `act` for
 * tokens mailed about a login and `sic` for challenges. The last three are valid for these purposes only.
 */
export type TokenKind = 'key' | 'ses' | 'web' | 'inv' | 'act' | 'sic'

/** An issued token in plain text, with the values that are stored. */
export interface IssuedToken {
  plaintext: string
  /** The token without its secret: safe to show, sufficient to recognise the token. */
  prefix: string
  secretHash: string
}

/** The content of a presented token. */
export interface PresentedToken {
  kind: TokenKind
  /** Such as `tok_…` or `ses_…`. */
  id: string
  secretHash: string
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 190 bits. */
const secretLength = 32
const checksumLength = 6
const format = /^(ops_(key|ses|web|inv|act|sic)_([0-9A-HJKMNP-TV-Z]{26})_[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/
const idPrefix: Record<TokenKind, string> = {
  ...{ key: 'tok', ses: 'ses', web: 'ses' },
  ...{ inv: 'inv', act: 'act', sic: 'sic' },
}

/**
 * Issues a token `ops_<kind>_<id>_<secret><checksum>`. The fixed format and the checksum let scanners for leaked
 * secrets recognise it, and allow rejecting mistyped tokens without a database query.
 */
export function issueToken(kind: TokenKind, id: string): IssuedToken {
  const prefix = `ops_${kind}_${id.slice(id.indexOf('_') + 1)}`
  const secret = Array.from({ length: secretLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const text = `${prefix}_${secret}`
  const plaintext = text + checksum(text)
  return { plaintext, prefix, secretHash: sha256Hex(plaintext) }
}

/** `null` if the text cannot be a token of this service. A secret of this length needs no slow hash. */
export function readToken(plaintext: string): PresentedToken | null {
  const [, text, kind, body, sum] = format.exec(plaintext) ?? []
  if (text === undefined || !isKind(kind) || checksum(text) !== sum) return null
  return { kind, id: `${idPrefix[kind]}_${body}`, secretHash: sha256Hex(plaintext) }
}

function isKind(text: string | undefined): text is TokenKind {
  return text !== undefined && Object.hasOwn(idPrefix, text)
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < checksumLength) {
    digits = alphabet.charAt(rest % alphabet.length) + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}
