import { z } from 'zod'
import { markNullable } from './nullable-references.js'

/**
 * Who has which name among the components of a document: the generator takes the first schema of a name for all of them, so a
 * second one would be described as the first.
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
     * Those with a name that are new, each after those within it. Throws where a schema, or one within it, has the name of a
     * different one.
     */
    claim: (schemas: readonly z.core.$ZodType[]): z.ZodType[] => schemas.flatMap(visit),
  }
}

/** Whether a schema is a named one but for null, a default and the like. */
function namedWithin(schema: z.core.$ZodType): boolean {
  if (z.globalRegistry.get(schema)?.id !== undefined) return true
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType }
  return innerType !== undefined && namedWithin(innerType)
}

/** The schemas a schema is directly made of, wherever its definition has them. */
function schemasWithin(schema: z.core.$ZodType): z.core.$ZodType[] {
  const parts = schema instanceof z.ZodLazy ? [schema.unwrap()] : Object.values(schema._zod.def)
  return parts.flatMap(membersOf).filter((member) => member instanceof z.core.$ZodType)
}

const membersOf = (part: unknown): unknown[] =>
  typeof part === 'object' && part !== null && !(part instanceof z.core.$ZodType)
    ? Object.values(part)
    : [part]
