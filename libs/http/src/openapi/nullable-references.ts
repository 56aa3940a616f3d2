import { z } from 'zod'

type Schema = Record<string, unknown>

const marker = 'x-or-null'

/** Of a choice that is a component the generator does not say that null is allowed as well. */
export function markNullable(schema: z.ZodNullable): void {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), [marker]: true })
}

/**
 * A part of a document in which what is another schema or null is a choice of the two. The generator writes that the value must be of
 * both, `allOf`, which null never is.
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

/** Whether what stands at the reference adds nothing but null, and annotations. */
const isOfReference = (reference: Schema, added: Schema): boolean =>
  typeof reference.$ref === 'string' && added[marker] === true

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
