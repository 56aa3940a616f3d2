import { isObject, type JsonSchema } from '@opsplane/json-schema'

/** The only references there are: to a definition of the same schema. Such names need no escapes in pointers. */
const reference = /^#\/\$defs\/([A-Za-z][\w-]{0,99})$/

/** The name of the definition a reference of this schema names, if there is one. */
export function definitionName(root: JsonSchema, ref: unknown): string | undefined {
  const name = typeof ref === 'string' ? reference.exec(ref)?.[1] : undefined
  return name !== undefined && isObject(root.$defs) && Object.hasOwn(root.$defs, name) ? name : undefined
}

export interface ResolvedSchema {
  schema: unknown
  /** Pointer to the definition it is, from the root; undefined where the schema stands for itself. */
  path?: string
}

/** The schema a reference finally leads to, with the siblings of the reference, such as another title or default. */
export function resolveReference(root: JsonSchema, schema: unknown): ResolvedSchema {
  if (!isObject(schema) || schema.$ref === undefined) return { schema }
  const { $ref, ...siblings } = schema
  const name = definitionName(root, $ref)
  if (name === undefined || !isObject(root.$defs)) return { schema: siblings }
  const { schema: found, path = `/$defs/${name}` } = resolveReference(root, root.$defs[name])
  return { schema: isObject(found) ? { ...found, ...siblings } : found, path }
}
