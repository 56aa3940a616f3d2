import { type JsonValue, redactedValue } from '@opsplane/contracts'
import type { Redact } from '@opsplane/runtime'

/** Fields that hold secrets by their names, whatever way they are spelled. */
const secretField =
  /^(?:.*[-_.])?(?:password|passwd|passphrase|secret|clientsecret|token|accesstoken|refreshtoken|apikey|authorization|cookie|privatekey|credentials?)$/i
const isSecretField = (name: string) =>
  secretField.test(name) || secretField.test(name.replaceAll(/[-_.]/g, ''))

/** A value with the texts and numbers in fields such as `password` or `api_key` masked, and these texts. */
export function maskFields(value: JsonValue): { value: JsonValue; secrets: string[] } {
  const secrets: string[] = []
  const walk = (part: JsonValue, isSecret: boolean): JsonValue => {
    if (Array.isArray(part)) return part.map((item) => walk(item, isSecret))
    if (typeof part === 'object' && part !== null)
      return Object.fromEntries(
        Object.entries(part).map(([name, inner]) => [name, walk(inner, isSecret || isSecretField(name))]),
      )
    if (!isSecret || part === '' || part === null || typeof part === 'boolean') return part
    secrets.push(String(part))
    return redactedValue
  }
  return { value: walk(value, false), secrets }
}

/** A value with all texts in it cleaned, names of fields included. */
export function maskTexts<Value extends JsonValue>(value: Value, redact: Redact): Value {
  const walk = (part: JsonValue): JsonValue => {
    if (typeof part === 'string') return redact(part)
    if (Array.isArray(part)) return part.map(walk)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [redact(name), walk(inner)]))
  }
  // Texts stay texts, and whatever holds them stays what it is.
  return walk(value) as Value
}
