import type { Schema, Schemas } from './named-members.js'

const fixed: Record<string, string> = {
  'date-time': '2026-01-15T09:30:00.000Z',
  date: '2026-01-15',
  time: '09:30:00',
  uuid: '0f8fad5b-d9cb-469f-a165-70867728950e',
  email: 'ada@example.com',
  uri: 'https://example.com/',
}

/** Candidates for string patterns without an example: the first match is used. */
const texts = [
  ...['example', 'Example', 'record.created', '1', '1.5', 'production', 'main.js', '/', 'v1', '1.0.0'],
  ...['09:30', '2026-01', '#336699', 'Europe/Berlin', 'Bearer', 'sha256-x', 'a'.repeat(64), 'a'.repeat(16)],
  ...['2026-01-15', `${'A'.repeat(86)}==`],
]

/**
 * Creates a value that is valid against a schema of the document. Deterministic: uses the examples in the schema and
 * its parts, otherwise the simplest value. Optional properties are included if they have an example.
 */
export function createExamples(schemas: Schemas) {
  const resolved = (schema: Schema): Schema =>
    typeof schema.$ref === 'string'
      ? { ...schemas[schema.$ref.split('/').at(-1) ?? ''], ...annotationsOf(schema) }
      : schema

  const exampleOf = (part: Schema, within: readonly string[]): unknown => {
    const name = typeof part.$ref === 'string' ? part.$ref : undefined
    const schema = resolved(part)
    if ('example' in schema) return schema.example
    if (Array.isArray(schema.enum)) return schema.enum[0]
    if ('const' in schema) return schema.const
    if ('default' in schema) return schema.default
    const inside = name === undefined ? within : [...within, name]
    const choice = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined
    if (choice) return ofChoice(choice, inside)
    const type = [schema.type].flat()[0]
    if (type === 'object') return ofObject(schema, inside)
    if (type === 'array') return ofArray(schema, inside)
    return ofScalar(schema, type)
  }

  /** A recursive schema ends with `null`, or with another member of the choice. */
  const ofChoice = (choice: Schema[], within: readonly string[]): unknown => {
    const open = choice.filter(({ $ref }) => !within.includes(String($ref)))
    return exampleOf(open[0] ?? choice[0] ?? {}, within)
  }
  const ofObject = (
    { properties = {}, required, additionalProperties }: Schema,
    within: readonly string[],
  ) => {
    const needed = new Set(Array.isArray(required) ? required : [])
    const shown = Object.entries(properties as Schemas).filter(
      ([name, schema]) => needed.has(name) || 'example' in resolved(schema),
    )
    const entries = shown.map(([name, schema]) => [name, exampleOf(schema, within)])
    return additionalProperties === undefined || entries.length > 0 ? Object.fromEntries(entries) : {}
  }
  const ofArray = ({ items = {}, minItems = 0 }: Schema, within: readonly string[]): unknown[] => {
    const { $ref } = items as Schema
    if (minItems === 0 && (within.includes(String($ref)) || within.length > 4)) return []
    const item = exampleOf(items as Schema, within)
    return Array.from({ length: Math.max(1, Number(minItems)) }, () => item)
  }
  return (schema: Schema): unknown => exampleOf(schema, [])
}

const annotationsOf = ({ $ref: _ref, ...others }: Schema): Schema => others

function ofScalar(schema: Schema, type: unknown): unknown {
  if (type === 'null') return null
  if (type === 'boolean') return true
  if (type === 'string') return ofText(schema)
  if (type !== 'integer' && type !== 'number') return 'example'
  const { minimum, exclusiveMinimum, maximum = Infinity } = schema
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : Number(minimum ?? 1)
  return Math.min(Math.max(least, 1), Number(maximum))
}

function ofText({ format, pattern, minLength = 0, maxLength = Infinity }: Schema): string {
  const known = typeof format === 'string' ? fixed[format] : undefined
  if (known !== undefined) return known
  const expression = typeof pattern === 'string' ? new RegExp(pattern, 'u') : undefined
  // Ids: a prefix and 26 characters of Crockford's alphabet.
  const prefix = /^\^(\w*?_)/.exec(String(pattern))?.[1] ?? ''
  const candidates = [`${prefix}01JHMZ5Q8R3V7W9XABCDEFGHJK`, ...texts]
  const padded = candidates.map((text) =>
    text.padEnd(Number(minLength), text.at(-1)).slice(0, Number(maxLength)),
  )
  return padded.find((text) => expression?.test(text) ?? text === padded[1]) ?? padded[1] ?? ''
}
