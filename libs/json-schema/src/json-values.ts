import { ExactNumber, inexactNumber } from '@opsplane/contracts'
import type { Budget } from './budget.js'
import { formatPointerStep, isObject, type JsonSchema, type Problem } from './schema.js'

interface Size {
  /** Number of items or properties. */
  count: number
  /** Approximate length as JSON, including nested values. */
  bytes: number
}

/** Measurements of a JSON value, used to estimate the cost of validating it. */
export interface JsonMeasurement {
  depth: number
  bytes: number
  /** Size of each contained object and list. */
  sizes: Map<unknown, Size>
}

/** Deeper values are rejected, because all later processing is recursive. */
const maxDepth = 200
const itemCost = 1 / 8
/** Property names cost more than list indexes. */
const propertyCost = 1 / 3

/** Measures a value, or reports why it is not JSON. Throws TooCostlyError if it is too large. */
export function measureJsonValue(value: unknown, budget: Budget): JsonMeasurement | Problem {
  const sizes = new Map<unknown, Size>()
  const trail: (string | number)[] = []
  let deepest = 0
  const wrong = (code: string, message: string): Problem => ({
    path: trail.map(formatPointerStep).join(''),
    code,
    message,
  })

  function visit(inner: unknown): number | Problem {
    if (typeof inner === 'string') return textSize(inner)
    if (inner === null || typeof inner === 'boolean') return 5
    if (typeof inner === 'number' && Number.isFinite(inner)) return 8
    if (inner instanceof ExactNumber) return wrong('invalid_type', inexactNumber)
    if (trail.length >= maxDepth) return wrong('too_deep', `is nested more than ${maxDepth} levels deep`)
    if (Array.isArray(inner)) return visitItems(inner)
    return isObject(inner) && isPlain(inner)
      ? visitProperties(inner)
      : wrong('invalid_type', 'must be a value of JSON')
  }
  function visitItems(items: readonly unknown[]): number | Problem {
    let bytes = 2
    budget.spend(itemCost * (items.length + 1))
    for (let index = 0; index < items.length; index++) {
      const inner = below(index, items[index])
      if (typeof inner !== 'number') return inner
      bytes += inner + 1
    }
    return measured(items, items.length, bytes)
  }
  function visitProperties(object: JsonSchema): number | Problem {
    const names = Object.keys(object)
    let bytes = 2
    budget.spend(propertyCost * (names.length + 1))
    for (const name of names) {
      const inner = below(name, object[name])
      if (typeof inner !== 'number') return inner
      bytes += textSize(name) + inner + 1
    }
    return measured(object, names.length, bytes)
  }
  function below(name: string | number, inner: unknown): number | Problem {
    trail.push(name)
    const bytes = visit(inner)
    // After a problem the trail is kept, because it is the path of the problem.
    if (typeof bytes === 'number') trail.pop()
    return bytes
  }
  function measured(parent: unknown, count: number, bytes: number): number {
    deepest = Math.max(deepest, trail.length + 1)
    sizes.set(parent, { count, bytes })
    return bytes
  }
  function textSize(text: string): number {
    budget.spend(text.length / 4_096)
    return Buffer.byteLength(text) + 2
  }

  const bytes = visit(value)
  return typeof bytes === 'number' ? { depth: deepest, bytes, sizes } : bytes
}

/** Also true for plain objects of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
