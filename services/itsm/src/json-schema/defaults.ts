import { resolved } from './references.js'
import { isObject, type JsonSchema } from './schema.js'
import type { Spend } from './walk.js'

/**
 * The value with the defaults of its schema where properties are missing, also within the objects and lists that are there.
 * What is filled in is spent, as it multiplies with the items of lists.
 */
export function withDefaults(schema: JsonSchema, value: unknown, spend: Spend): unknown {
  return filled({ root: schema, spend }, schema, value)
}

interface Filling {
  root: JsonSchema
  spend: Spend
}

function filled(filling: Filling, given: unknown, value: unknown): unknown {
  filling.spend(1)
  const { schema } = resolved(filling.root, given)
  if (!isObject(schema)) return value
  const { properties, items } = schema
  if (Array.isArray(value) && isObject(items)) return value.map((item) => filled(filling, items, item))
  return isObject(properties) && isObject(value) ? filledObject(filling, properties, value) : value
}

function filledObject(filling: Filling, properties: JsonSchema, value: JsonSchema): JsonSchema {
  const object = { ...value }
  for (const [name, given] of Object.entries(properties)) {
    filling.spend(1)
    const { schema } = resolved(filling.root, given)
    if (!Object.hasOwn(object, name) && isObject(schema) && schema.default !== undefined) {
      filling.spend(JSON.stringify(schema.default).length)
      object[name] = schema.default
    }
    if (Object.hasOwn(object, name)) object[name] = filled(filling, given, object[name])
  }
  return object
}
