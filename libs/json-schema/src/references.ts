import { formatPointerStep, type JsonSchema, parsePointer } from './schema.js'

/** The subschemas of a document by JSON pointer; equal objects are separate entries. */
export type Subschemas = ReadonlyMap<string, JsonSchema | boolean>

/** Resolves a reference to the pointer of a subschema of the same document; `undefined` if there is none. */
export function resolveReference(
  reference: unknown,
  subschemas: Subschemas,
  anchors: ReadonlyMap<unknown, string>,
): string | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
  const fragment = decoded(reference.slice(1))
  if (fragment === undefined) return undefined
  if (fragment === '' || fragment.startsWith('/')) {
    const pointer = parsePointer(fragment).map(formatPointerStep).join('')
    return subschemas.has(pointer) ? pointer : undefined
  }
  return anchors.get(fragment)
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}
