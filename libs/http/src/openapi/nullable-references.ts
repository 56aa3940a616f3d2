import { z } from 'zod'

type Schema = Record<string, unknown>

const marker = 'x-or-null'

/** Marks a nullable reference to a component that is a union: the generator does not express that `null` is allowed too. */
export function markNullable(schema: z.ZodNullable): void {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), [marker]: true })
}

/**
 * Rewrites parts of a document that are a reference or `null` into a union of both. The generator writes
 * `allOf` of both, which `null` never satisfies.
 */
export function withNullableReferences<Part>(part: Part): Part {
  return rewritten(part) as Part
}

function rewritten(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(rewritten)
  if (!isSchema(part)) return part
  const { allOf, ...others } = part
  const [reference, added, ...rest] = Array.isArray(allOf) ? (allOf as unknown[]) : []
  if (isSchema(reference) && isSchema(added) && rest.length === 0 && isOfReference(reference, added)) {
    const {
      [marker]: _marker,
      type: _type,
      enum: _enum,
      anyOf: _anyOf,
      oneOf: _oneOf,
      ...annotations
    } = added
    return { anyOf: [reference, { type: 'null' }], ...annotations, ...others }
  }
  const kept = Object.entries(part).filter(([key]) => key !== marker)
  return Object.fromEntries(kept.map(([key, value]) => [key, rewritten(value)]))
}

/** Whether the schema at the reference adds nothing but `null` and annotations. */
const isOfReference = (reference: Schema, added: Schema): boolean =>
  typeof reference.$ref === 'string' && added[marker] === true

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
