/** Limits for values that expressions read or create. */
interface ValueLimits {
  /** Approximate length as JSON, in UTF-8 bytes. */
  bytes: number
  /** Maximum nesting of arrays and objects. */
  depth: number
}

export const maxDepth = 64

/** Reason why a value is rejected. Shared or circular values do not cause endless loops. */
export type ValueProblem = 'too_large' | 'too_deep' | 'function' | 'forbidden_key' | 'not_finite'

/** Approximate length as JSON, and whether a text in it contains `{{`; or the problem of the value. */
type ValueMeasurement = { bytes: number; braces: boolean; problem?: undefined } | { problem: ValueProblem }

/** Measures a JSON-like value without serializing it; stops when a limit is exceeded. */
export function measureValue(value: unknown, { bytes, depth }: ValueLimits): ValueMeasurement {
  let [left, braces] = [bytes, false]
  const measureItem = (item: unknown, below: number): ValueProblem | undefined => {
    left -= sizeOf(item)
    if (left < 0) return 'too_large'
    if (typeof item === 'string') braces ||= item.includes('{{')
    if (typeof item === 'number' && !Number.isFinite(item)) return 'not_finite'
    if (typeof item === 'function') return 'function'
    if (item === null || typeof item !== 'object') return undefined
    if (below === 0) return 'too_deep'
    if (isFunctionValue(item)) return 'function'
    return Array.isArray(item) ? measureItems(item, below) : measureFields(item, below)
  }
  const measureItems = (items: readonly unknown[], below: number): ValueProblem | undefined => {
    for (const item of items) {
      const problem = measureItem(item, below - 1)
      if (problem) return problem
    }
    return undefined
  }
  const measureFields = (fields: object, below: number): ValueProblem | undefined => {
    for (const key of Object.keys(fields)) {
      if (key === '__proto__') return 'forbidden_key'
      left -= key.length + 3
      const problem = measureItem((fields as Record<string, unknown>)[key], below - 1)
      if (problem) return problem
    }
    return undefined
  }
  const problem = measureItem(value, depth)
  return problem ? { problem } : { bytes: bytes - left, braces }
}

const sizeOf = (value: unknown): number => (typeof value === 'string' ? value.length + 3 : 5)

/** JSONata's functions, whether user-defined or built-in, are objects that contain their whole environment. */
const isFunctionValue = (value: object): boolean =>
  ('_jsonata_lambda' in value && value._jsonata_lambda === true) ||
  ('_jsonata_function' in value && value._jsonata_function === true)
