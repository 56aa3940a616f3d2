import { isObject } from './schema.js'

/** The value with the defaults of its schema where properties are missing, also within objects that are there. */
export function withDefaults(schema: unknown, value: unknown): unknown {
  if (!isObject(schema) || !isObject(schema.properties) || !isObject(value)) return value
  const filled = { ...value }
  for (const [name, inner] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(filled, name) && isObject(inner) && inner.default !== undefined)
      filled[name] = inner.default
    if (Object.hasOwn(filled, name)) filled[name] = withDefaults(inner, filled[name])
  }
  return filled
}
