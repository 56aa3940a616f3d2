import { z } from 'zod'

/** Formats whose check is built in; a schema with another one is refused. */
export const formats: ReadonlySet<string> = new Set([
  ...['date', 'date-time', 'time', 'duration', 'email', 'uri', 'uri-reference', 'uuid', 'guid', 'hostname'],
  ...['ipv4', 'ipv6', 'cidr', 'cidr-v6', 'mac', 'e164', 'iban', 'ulid', 'base64', 'base64url', 'jwt'],
])
/** Longer texts are of no format: it bounds what the check costs. */
const maxLength = 2_048
/** A browser that opens such a link runs its script. */
const scripts = ['javascript:', 'vbscript:', 'data:']

/** What a URI reference is written with (RFC 3986). Browsers drop other characters, and then read another address. */
const reference = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-f]{2})*$/i
/** Stands for the page a relative reference is on. */
const somewhere = 'https://example.com'

const checks = new Map<string, z.ZodType>()

/** Whether a text is of a format; unknown ones bind nothing. */
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
