import { ExactNumber, inexactNumber } from '@opsplane/contracts'
import type { Budget } from './budget.js'
import { formatPointerStep, isObject, type JsonSchema, type Problem } from './schema.js'

interface Size {
  /** Items or properties. */
  count: number
  /** About what it takes as JSON, with all that is in it. */
  bytes: number
}

/** The measures of a JSON value, to estimate the cost of validating it beforehand. */
export interface JsonMeasurement {
  depth: number
  bytes: number
  /** Of each object and list in it. */
  sizes: Map<unknown, Size>
}

/** Deeper ones are refused: everything below goes down by calls. */
const maxDepth = 200
const itemCost = 1 / 8
/** Names take longer than places in a list. */
const propertyCost = 1 / 3

/** Measures a value, or says why it is none of JSON. Throws TooCostlyError for one that is too large. */
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
    // Left as it is where something is wrong, which names the place.
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

/** Also one of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
