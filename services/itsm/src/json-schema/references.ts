import { isObject, type JsonSchema } from '@opsplane/json-schema'

/** The only supported references: to a definition of the same schema. Such names need no escapes in pointers. */
const reference = /^#\/\$defs\/([A-Za-z][\w-]{0,99})$/

/** Returns the name of the definition that a reference in this schema refers to, if it exists. */
export function definitionName(root: JsonSchema, ref: unknown): string | undefined {
  const name = typeof ref === 'string' ? reference.exec(ref)?.[1] : undefined
  return name !== undefined && isObject(root.$defs) && Object.hasOwn(root.$defs, name) ? name : undefined
}

export interface ResolvedSchema {
  schema: unknown
  /** Pointer from the root to the referenced definition; `undefined` if the schema is not a reference. */
  path?: string
}

/**
 * Follows a chain of references and returns the final schema, merged
 * with the siblings of the references, such as another title or default.
 */
export function resolveReference(root: JsonSchema, schema: unknown): ResolvedSchema {
  if (!isObject(schema) || schema.$ref === undefined) return { schema }
  const { $ref, ...siblings } = schema
  const name = definitionName(root, $ref)
  if (name === undefined || !isObject(root.$defs)) return { schema: siblings }
  const { schema: found, path = `/$defs/${name}` } = resolveReference(root, root.$defs[name])
  return { schema: isObject(found) ? { ...found, ...siblings } : found, path }
}
