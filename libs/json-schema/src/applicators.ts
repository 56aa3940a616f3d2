import { formatPointerStep, isObject, type JsonSchema } from './schema.js'

/** Keywords whose value is one subschema, a list of subschemas, or an object of named subschemas. */
const single = ['items', 'contains', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties']
const places = {
  ...byKeyword([...single, 'propertyNames', 'not', 'if', 'then', 'else'], 'one'),
  ...byKeyword(['prefixItems', 'anyOf', 'oneOf', 'allOf'], 'list'),
  ...byKeyword(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'], 'named'),
}
export const applicators: ReadonlyMap<string, 'one' | 'list' | 'named'> = new Map(Object.entries(places))

/** Keywords whose subschemas apply to the same value as the schema that contains them. */
const inPlace = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentSchemas'])

interface ChildSchema {
  keyword: string
  pointer: string
  schema: unknown
  inPlace: boolean
}

/** The direct subschemas of a schema; a keyword that requires a list or an object is skipped if its value has another type. */
export function* iterateChildSchemas(schema: JsonSchema, pointer: string): Generator<ChildSchema> {
  for (const [keyword, value] of Object.entries(schema)) {
    const kind = applicators.get(keyword)
    const at = { keyword, inPlace: inPlace.has(keyword) }
    if (kind === 'one') yield { ...at, pointer: `${pointer}/${keyword}`, schema: value }
    if (kind === 'list' && Array.isArray(value))
      for (const [index, one] of value.entries())
        yield { ...at, pointer: `${pointer}/${keyword}/${index}`, schema: one }
    if (kind === 'named' && isObject(value))
      for (const [name, one] of Object.entries(value))
        yield { ...at, pointer: `${pointer}/${keyword}${formatPointerStep(name)}`, schema: one }
  }
}

function byKeyword<Kind extends string>(keywords: string[], kind: Kind): Record<string, Kind> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, kind]))
}
