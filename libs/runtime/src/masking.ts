import { ExactNumber, type JsonValue, redactedValue } from '@opsplane/contracts'
import type { Redact } from './redaction.js'

/** Fields that hold secrets by their names, whatever way they are spelled. */
const secretField =
  /^(?:.*[-_.])?(?:password|passwd|passphrase|(?:client)?secret|(?:access|refresh)?token|api[-_.]?key|authorization|cookie|private[-_.]?key|credentials?)$/i
const isSecretField = (name: string) => secretField.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'))

/** What becomes of the parts of a value. */
interface Masking {
  name(name: string): string
  /** A text or a number in a field that is named as a secret is. */
  secret(part: string | number): JsonValue
  /** Any other one. */
  plain(part: string | number): JsonValue
}

/** A number that a double would change is one as well. */
const isScalar = (part: unknown): part is string | number =>
  typeof part === 'string' || typeof part === 'number' || part instanceof ExactNumber

/** The same value where nothing of it changes. */
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

/** The texts and numbers in fields that are named as secrets are, such as `password` or `api_key`. */
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

/** A value without known secrets, names of fields included; the value itself where it has none. */
export function redactValue(value: JsonValue, redact: Redact): JsonValue {
  const plain = redacting(redact)
  return masked(value, false, { name: redact, secret: plain, plain })
}

/**
 * A value as it is kept for people: without known secrets, and `***` for what stands in fields that are named as secrets
 * are. Code that computes with it gets it unmasked.
 */
export const maskValue = (value: JsonValue, redact: Redact): JsonValue =>
  masked(value, false, { name: redact, secret: () => redactedValue, plain: redacting(redact) })

/** A secret may be a number that comes back as one. */
const redacting = (redact: Redact) => (part: string | number) => {
  const redacted = redact(String(part))
  return redacted === String(part) ? part : redacted
}
