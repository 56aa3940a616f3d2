import { ExactNumber, type JsonValue, redactedValue } from '@opsplane/contracts'
import type { Redact } from './redaction.js'

/** Names of fields that contain secrets, in any spelling. */
const secretField =
  /^(?:.*[-_.])?(?:password|passwd|passphrase|(?:client)?secret|(?:access|refresh)?token|api[-_.]?key|authorization|cookie|private[-_.]?key|credentials?)$/i
const isSecretField = (name: string) => secretField.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'))

/** How the parts of a value are replaced. */
interface Masking {
  name(name: string): string
  /** Replaces a text or number in a field with a secret's name. */
  secret(part: string | number): JsonValue
  /** Replaces any other text or number. */
  plain(part: string | number): JsonValue
}

/** Includes numbers that a double cannot represent exactly. */
const isScalar = (part: unknown): part is string | number =>
  typeof part === 'string' || typeof part === 'number' || part instanceof ExactNumber

/** Returns the same value if nothing in it changes. */
function masked(part: JsonValue, isSecret: boolean, masking: Masking): JsonValue {
  if (isScalar(part)) return isSecret && part !== '' ? masking.secret(part) : masking.plain(part)
  if (Array.isArray(part)) {
    const items = part.map((item) => masked(item, isSecret, masking))
    return items.every((item, at) => item === part[at]) ? part : items
  }
  if (typeof part !== 'object' || part === null) return part
  let changes = false
  const fields = Object.entries(part).map(([name, inner]): [string, JsonValue] => {
    const field: [string, JsonValue] = [
      masking.name(name),
      masked(inner, isSecret || isSecretField(name), masking),
    ]
    changes ||= field[0] !== name || field[1] !== inner
    return field
  })
  return changes ? Object.fromEntries(fields) : part
}

const same = <Part>(part: Part) => part

/** The texts and numbers in fields with names of secrets, such as `password` or `api_key`. */
export function secretsIn(value: JsonValue): string[] {
  const secrets: string[] = []
  masked(value, false, {
    ...{ name: same, plain: same },
    secret(part) {
      secrets.push(String(part))
      return part
    },
  })
  return secrets
}

/** A value with known secrets redacted, also in field names; the value itself if it contains none. */
export function redactValue(value: JsonValue, redact: Redact): JsonValue {
  const plain = redacting(redact)
  return masked(value, false, { name: redact, secret: plain, plain })
}

/**
 * A value as stored for people to read: known secrets are redacted, and fields with names of secrets contain
 * `***`. Code that computes with the value receives it unmasked.
 */
export const maskValue = (value: JsonValue, redact: Redact): JsonValue =>
  masked(value, false, { name: redact, secret: () => redactedValue, plain: redacting(redact) })

/** A secret may also be returned as a number. */
const redacting = (redact: Redact) => (part: string | number) => {
  const redacted = redact(String(part))
  return redacted === String(part) ? part : redacted
}
