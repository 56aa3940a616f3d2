import { z } from 'zod'

/** Formats with a built-in check; a schema that uses another format is rejected when it is read as `strict`. */
export const formats: ReadonlySet<string> = new Set([
  ...['date', 'date-time', 'time', 'duration', 'email', 'uri', 'uri-reference', 'uuid', 'guid', 'hostname'],
  ...['ipv4', 'ipv6', 'cidr', 'cidr-v6', 'mac', 'e164', 'iban', 'ulid', 'base64', 'base64url', 'jwt'],
])
/** Longer texts never match a format, which bounds the cost of the check. In characters. */
const maxLength = 2_048
/** Browsers execute the script of links with these schemes. */
const scripts = ['javascript:', 'vbscript:', 'data:']

/** Characters of a URI reference (RFC 3986). Browsers drop other characters, and would then open another address. */
const reference = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-f]{2})*$/i
/** Base URL to resolve relative references. */
const somewhere = 'https://example.com'

const checks = new Map<string, z.ZodType>()

/** Whether a text has a format; unknown formats accept every text. */
export function hasFormat(format: string, text: string): boolean {
  if (!formats.has(format)) return true
  if (text.length > maxLength) return false
  if (format === 'uri-reference') return reference.test(text) && isHarmless(text)
  const check = checks.get(format) ?? z.fromJSONSchema({ type: 'string', format })
  checks.set(format, check)
  return check.safeParse(text).success && (format !== 'uri' || isHarmless(text))
}

function isHarmless(text: string): boolean {
  const url = URL.canParse(text, somewhere) ? new URL(text, somewhere) : undefined
  return url !== undefined && !scripts.includes(url.protocol)
}
