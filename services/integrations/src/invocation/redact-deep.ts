import { ExactNumber } from '@opsplane/contracts'

/** A JSON value with every text in it, names included, redacted. */
export function redactDeep(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((each) => redactDeep(each, redact))
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return redactScalar(value, redact)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [redact(name), redactDeep(inner, redact)]),
  )
}

/** A secret may be a number that comes back as one. */
function redactScalar(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value !== 'number' && !(value instanceof ExactNumber)) return value
  const text = String(value)
  const redacted = redact(text)
  return redacted === text ? value : redacted
}
