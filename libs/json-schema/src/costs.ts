import { iterateChildSchemas } from './applicators.js'
import type { SchemaInspection } from './inspect.js'
import type { Limits } from './options.js'
import type { Problem } from './schema.js'

/** Minimum cost to check one value, and the maximum recursion depth, with references followed. */
export interface Cost {
  steps: number
  depth: number
}

/**
 * Computes the worst cost of the subschemas, each together with all subschemas that apply to the same value. Rejects
 * circular references that do not descend into the value, and schemas that are too expensive for any value.
 */
export function computeCosts({ subschemas, targets }: SchemaInspection, limits: Limits): Cost | Problem {
  const costs = new Map<string, Cost>()
  const open = new Set<string>()

  function costOf(pointer: string): Cost | Problem {
    const before = costs.get(pointer)
    if (before) return before
    const cost: Cost = { steps: 1, depth: 1 }
    const schema = subschemas.get(pointer)
    if (typeof schema !== 'object') return cost
    if (open.size > limits.maxDepth) return tooDeep(pointer, limits)
    open.add(pointer)
    for (const [at, below] of appliedWith(pointer)) {
      if (open.has(below))
        return { path: at, code: 'endless_reference', message: 'leads back to where it stands' }
      const inner = costOf(below)
      if ('path' in inner) return inner
      cost.steps = Math.min(cost.steps + inner.steps, limits.maxSteps + 1)
      cost.depth = Math.max(cost.depth, inner.depth + 1)
    }
    open.delete(pointer)
    costs.set(pointer, cost)
    return cost.depth > limits.maxDepth ? tooDeep(pointer, limits) : cost
  }
  function appliedWith(pointer: string): [at: string, below: string][] {
    const schema = subschemas.get(pointer)
    if (typeof schema !== 'object') return []
    const target = targets.get(pointer)
    const inPlaceChildren = [...iterateChildSchemas(schema, pointer)].filter(({ inPlace }) => inPlace)
    return [
      ...inPlaceChildren.map(({ pointer: at }): [string, string] => [at, at]),
      ...(target === undefined ? [] : [[`${pointer}/$ref`, target] as [string, string]]),
    ]
  }

  const worst: Cost = { steps: 0, depth: 0 }
  for (const pointer of subschemas.keys()) {
    const cost = costOf(pointer)
    if ('path' in cost) return cost
    worst.steps = Math.max(worst.steps, cost.steps)
    worst.depth = Math.max(worst.depth, cost.depth)
  }
  return worst.steps > limits.maxSteps
    ? { path: '', code: 'too_costly', message: 'is too large, with its references written out' }
    : worst
}

const tooDeep = (path: string, { maxDepth }: Limits): Problem => ({
  path,
  code: 'too_deep',
  message: `is nested more than ${maxDepth} levels deep`,
})
