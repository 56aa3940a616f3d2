import { z } from 'zod'

/** Formats whose check is built in; a schema with another one is refused. */
export const formats: ReadonlySet<string> = new Set([
  ...['date', 'date-time', 'time', 'duration', 'email', 'uri', 'uri-reference', 'uuid', 'guid', 'hostname'],
  ...['ipv4', 'ipv6', 'cidr', 'cidr-v6', 'mac', 'e164', 'iban', 'ulid', 'base64', 'base64url', 'jwt'],
])
/** Longer texts are of no format: it bounds what the check costs. */
const maxLength = 2_048
/** Whoever follows such a link runs what it says. */
const scripts = ['javascript:', 'vbscript:', 'data:']

const checks = new Map<string, z.ZodType>()

/** Whether a text is of a format; unknown ones bind nothing. */
export function hasFormat(format: string, text: string): boolean {
  if (!formats.has(format)) return true
  if (text.length > maxLength) return false
  const check = checks.get(format) ?? z.fromJSONSchema({ type: 'string', format })
  checks.set(format, check)
  if (!check.safeParse(text).success) return false
  return !format.startsWith('uri') || !scripts.includes(new URL(text).protocol)
}
