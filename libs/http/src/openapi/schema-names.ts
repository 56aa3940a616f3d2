import { z } from 'zod'
import { markNullable } from './nullable-references.js'

/**
 * Registry of component names. The generator uses the first schema with a name for all of them, so
 * a second schema would be described as the first.
 */
export function createNames() {
  const owners = new Map<string, z.core.$ZodType>()
  const seen = new Set<z.core.$ZodType>()
  const visit = (schema: z.core.$ZodType): z.ZodType[] => {
    if (seen.has(schema)) return []
    seen.add(schema)
    if (schema instanceof z.ZodNullable && namedWithin(schema)) markNullable(schema)
    const name = z.globalRegistry.get(schema)?.id
    const owner = name === undefined ? undefined : owners.get(name)
    if (name !== undefined && owner !== undefined)
      throw new Error(`two schemas have the id ${name}: rename one, or use one schema for both`)
    if (name !== undefined) owners.set(name, schema)
    const within = schemasWithin(schema).flatMap(visit)
    return name !== undefined && schema instanceof z.ZodType ? [...within, schema] : within
  }
  return {
    /**
     * Returns the named schemas that are new, each after those it contains. Throws if a schema, or one
     * it contains, has the name of a different one.
     */
    claim: (schemas: readonly z.core.$ZodType[]): z.ZodType[] => schemas.flatMap(visit),
  }
}

/** Whether a schema is a named one wrapped in nullable, default and the like. */
function namedWithin(schema: z.core.$ZodType): boolean {
  if (z.globalRegistry.get(schema)?.id !== undefined) return true
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType }
  return innerType !== undefined && namedWithin(innerType)
}

/** The direct parts of a schema, wherever its definition stores them. */
function schemasWithin(schema: z.core.$ZodType): z.core.$ZodType[] {
  const parts = schema instanceof z.ZodLazy ? [schema.unwrap()] : Object.values(schema._zod.def)
  return parts.flatMap(membersOf).filter((member) => member instanceof z.core.$ZodType)
}

const membersOf = (part: unknown): unknown[] =>
  typeof part === 'object' && part !== null && !(part instanceof z.core.$ZodType)
    ? Object.values(part)
    : [part]
