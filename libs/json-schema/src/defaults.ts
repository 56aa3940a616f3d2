import type { Budget } from './budget.js'
import type { SchemaInspection } from './inspect.js'
import { formatPointerStep, isObject, type JsonSchema } from './schema.js'

/** Maximum depth of defaults that contain further defaults; no real form is deeper. */
const maxDepth = 50

/**
 * Returns the value with defaults for missing properties, also within existing objects and lists. Inserted values are
 * charged to the budget, because they multiply with the number of list items. Throws TooCostlyError.
 */
export function applyDefaults(
  { subschemas, targets }: SchemaInspection,
  input: unknown,
  budget: Budget,
): unknown {
  function filled(pointer: string, value: unknown, depth: number): unknown {
    budget.spend(1 / 4)
    if (depth > maxDepth) return value
    const schema = subschemas.get(pointer)
    if (typeof schema !== 'object') return value
    let whole = value
    const target = targets.get(pointer)
    if (target !== undefined) whole = filled(target, whole, depth + 1)
    for (const index of Array.isArray(schema.allOf) ? schema.allOf.keys() : [])
      whole = filled(`${pointer}/allOf/${index}`, whole, depth + 1)
    const { properties, items } = schema
    if (Array.isArray(whole) && isObject(items))
      return whole.map((item) => filled(`${pointer}/items`, item, depth + 1))
    return isObject(properties) && isObject(whole) ? filledObject(pointer, properties, whole, depth) : whole
  }

  function filledObject(pointer: string, properties: JsonSchema, value: JsonSchema, depth: number) {
    const object = new Map(Object.entries(value))
    for (const name of Object.keys(properties)) {
      budget.spend(1 / 4)
      const at = `${pointer}/properties${formatPointerStep(name)}`
      if (!object.has(name)) {
        const found = defaultOf(at)
        if (found === undefined) continue
        budget.spend(JSON.stringify(found).length / 16)
        object.set(name, structuredClone(found))
      }
      object.set(name, filled(at, object.get(name), depth + 1))
    }
    return Object.fromEntries(object)
  }
  /** A `default` next to a reference takes precedence over that of the target. */
  function defaultOf(pointer: string): unknown {
    const schema = subschemas.get(pointer)
    if (typeof schema !== 'object') return undefined
    if (Object.hasOwn(schema, 'default')) return schema.default
    const target = targets.get(pointer)
    return target === undefined ? undefined : defaultOf(target)
  }
  return filled('', input, 0)
}
