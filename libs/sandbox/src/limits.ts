/** How far values may go that expressions read or make. */
interface ValueLimits {
  /** UTF-8 bytes of JSON, about. */
  bytes: number
  /** Arrays and objects within each other. */
  depth: number
}

export const maxDepth = 64

/** What is wrong with a value, or undefined: looked for without following anything shared or circular for ever. */
export type ValueProblem = 'too_large' | 'too_deep' | 'function' | 'forbidden_key' | 'not_finite'

/** About how long its JSON is and whether a text in it has `{{`, or what is wrong with it. */
type ValueMeasurement = { bytes: number; braces: boolean; problem?: undefined } | { problem: ValueProblem }

/** Measures a JSON-like value without making its text; stops as soon as a limit is passed. */
export function measureValue(value: unknown, { bytes, depth }: ValueLimits): ValueMeasurement {
  let [left, braces] = [bytes, false]
  const look = (item: unknown, below: number): ValueProblem | undefined => {
    left -= sizeOf(item)
    if (left < 0) return 'too_large'
    if (typeof item === 'string') braces ||= item.includes('{{')
    if (typeof item === 'number' && !Number.isFinite(item)) return 'not_finite'
    if (typeof item === 'function') return 'function'
    if (item === null || typeof item !== 'object') return undefined
    if (below === 0) return 'too_deep'
    if (isFunctionValue(item)) return 'function'
    return Array.isArray(item) ? lookAtAll(item, below) : lookAtFields(item, below)
  }
  const lookAtAll = (items: readonly unknown[], below: number): ValueProblem | undefined => {
    for (const item of items) {
      const problem = look(item, below - 1)
      if (problem) return problem
    }
    return undefined
  }
  const lookAtFields = (fields: object, below: number): ValueProblem | undefined => {
    for (const key of Object.keys(fields)) {
      if (key === '__proto__') return 'forbidden_key'
      left -= key.length + 3
      const problem = look((fields as Record<string, unknown>)[key], below - 1)
      if (problem) return problem
    }
    return undefined
  }
  const problem = look(value, depth)
  return problem ? { problem } : { bytes: bytes - left, braces }
}

const sizeOf = (value: unknown): number => (typeof value === 'string' ? value.length + 3 : 5)

/** Functions of JSONata, written in an expression or its own, are objects that carry their whole environment. */
const isFunctionValue = (value: object): boolean =>
  ('_jsonata_lambda' in value && value._jsonata_lambda === true) ||
  ('_jsonata_function' in value && value._jsonata_function === true)
