import type { Budget } from './budget.js'
import { isObject, type Problem, step } from './schema.js'

export interface Size {
  /** Items or properties. */
  count: number
  /** About what it takes as JSON, with all that is in it. */
  bytes: number
}

/** What is in a value of JSON, for whoever has to know beforehand what it costs to work with it. */
export interface Measured {
  depth: number
  bytes: number
  /** Of each object and list in it. */
  sizes: Map<unknown, Size>
}

/** Deeper ones are refused: everything below goes down by calls. */
const maxDepth = 200
const nodeCost = 1 / 8

/** Measures a value, or says why it is none of JSON. Throws TooCostlyError for one that is too large. */
export function measure(value: unknown, budget: Budget): Measured | Problem {
  const sizes = new Map<unknown, Size>()
  let deepest = 0

  function visit(inner: unknown, path: string, depth: number): number | Problem {
    budget.spend(nodeCost)
    if (typeof inner === 'string') return textSize(inner)
    if (inner === null || typeof inner === 'boolean') return 5
    if (typeof inner === 'number' && Number.isFinite(inner)) return 8
    if (depth > maxDepth)
      return { path, code: 'too_deep', message: `is nested more than ${maxDepth} levels deep` }
    if (Array.isArray(inner)) return children(inner, inner.entries(), path, depth)
    if (isObject(inner) && isPlain(inner)) return children(inner, Object.entries(inner), path, depth)
    return { path, code: 'invalid_type', message: 'must be a value of JSON' }
  }
  function textSize(text: string): number {
    budget.spend(text.length / 4_096)
    return Buffer.byteLength(text) + 2
  }
  function children(
    parent: unknown,
    entries: Iterable<[string | number, unknown]>,
    path: string,
    depth: number,
  ) {
    const size: Size = { count: 0, bytes: 2 }
    deepest = Math.max(deepest, depth)
    for (const [name, inner] of entries) {
      const key = typeof name === 'string' ? textSize(name) : 0
      const bytes = visit(inner, path + step(name), depth + 1)
      if (typeof bytes !== 'number') return bytes
      size.count++
      size.bytes += key + bytes + 1
    }
    sizes.set(parent, size)
    return size.bytes
  }

  const bytes = visit(value, '', 1)
  return typeof bytes === 'number' ? { depth: deepest, bytes, sizes } : bytes
}

/** Also one of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
