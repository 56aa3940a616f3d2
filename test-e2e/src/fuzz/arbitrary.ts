import fc from 'fast-check'
import { type JsonSchema, type OpenApi, resolveSchema } from './document.js'

type Any = fc.Arbitrary<unknown>

/** Range of leaf values: valid for the schema, or at and beyond the limits it allows. */
export type ValueRange = 'valid' | 'boundary'

export interface GenerationOptions {
  document: OpenApi
  taste: ValueRange
  /** Values to use instead of random ones, by property name, such as URLs that may be called. */
  named: Record<string, unknown[]>
}

const maxDepth = 4

/** Generates values of a schema. */
export function generateValues(schema: JsonSchema, options: GenerationOptions, depth = 0): Any {
  const resolved = resolveSchema(options.document, schema)
  if (resolved.enum) return fc.constantFrom(...resolved.enum)
  if ('const' in resolved) return fc.constant(resolved.const)
  if (resolved.anyOf) {
    // Limits recursion: beyond `maxDepth` only the first branch is used.
    const branches = depth >= maxDepth ? resolved.anyOf.slice(0, 1) : resolved.anyOf
    return fc.oneof(...branches.map((branch) => generateValues(branch, options, depth + 1)))
  }
  const types = [resolved.type ?? []].flat()
  if (types.length === 0) return options.taste === 'valid' ? anyJson : edgeValues
  return fc.oneof(...types.map((type) => ofType(type, resolved, options, depth)))
}

const anyJson = fc.jsonValue({ maxDepth: 2 })

function ofType(type: string, schema: JsonSchema, options: GenerationOptions, depth: number): Any {
  if (type === 'object') return objects(schema, options, depth)
  if (type === 'array') return arrays(schema, options, depth)
  if (type === 'string') return options.taste === 'valid' ? strings(schema) : edgeStrings(schema)
  if (type === 'integer' || type === 'number') {
    return options.taste === 'valid' ? numbers(type, schema) : edgeNumbers(schema)
  }
  return type === 'boolean' ? fc.boolean() : fc.constant(null)
}

function objects(schema: JsonSchema, options: GenerationOptions, depth: number): Any {
  const { properties = {}, required = [], additionalProperties } = schema
  const fields = Object.entries(properties).map(([name, field]): [string, Any] => {
    const fixed = options.named[name]
    return [name, fixed ? fc.constantFrom(...fixed) : generateValues(field, options, depth + 1)]
  })
  const known = fc.record(Object.fromEntries(fields), { requiredKeys: required })
  if (additionalProperties === undefined || typeof additionalProperties === 'boolean') return known
  if (depth >= maxDepth) return known
  const key = options.taste === 'valid' ? strings({ pattern: '^[a-z]{1,12}$' }) : edgeStrings({})
  const more = fc.dictionary(key, generateValues(additionalProperties, options, depth + 1), { maxKeys: 3 })
  return fc.tuple(more, known).map(([extra, fixed]) => ({ ...extra, ...fixed }))
}

function arrays(schema: JsonSchema, options: GenerationOptions, depth: number): Any {
  const { items = {}, minItems = 0, maxItems = 4 } = schema
  const item = generateValues(items, options, depth + 1)
  const few = fc.array(item, { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) })
  if (options.taste === 'valid') return few
  const long = item.map((value) => Array.from({ length: Math.min(maxItems + 1, 300) }, () => value))
  return fc.oneof(few, fc.constant([]), long)
}

/** Generators by their constraints: most schemas share them, and creating one is slow. */
const stringsOf = new Map<string, fc.Arbitrary<string>>()

function strings(schema: JsonSchema): fc.Arbitrary<string> {
  const { minLength, maxLength, pattern, format } = schema
  const key = JSON.stringify([minLength, maxLength, pattern, format])
  const made = stringsOf.get(key) ?? newStrings(schema)
  stringsOf.set(key, made)
  return made
}

function newStrings(schema: JsonSchema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema
  if (format === 'date-time') return dates.map((date) => date.toISOString())
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength
  if (pattern !== undefined) return matching(pattern).filter(fits)
  return fc
    .string({ minLength, maxLength: Math.min(maxLength, minLength + 40), unit: 'grapheme' })
    .filter(fits)
}

/** Strings are generated without the lookaheads of the pattern, and filtered by the whole pattern. */
function matching(pattern: string): fc.Arbitrary<string> {
  const whole = new RegExp(pattern)
  return fc.stringMatching(new RegExp(pattern.replaceAll(lookaheads, ''))).filter((text) => whole.test(text))
}
const lookaheads = /\(\?!(?:[^()]|\([^()]*\))*\)/g

const dates = fc.date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })

function numbers(type: string, schema: JsonSchema): fc.Arbitrary<number> {
  const { minimum = -1_000_000, maximum = 1_000_000, exclusiveMinimum } = schema
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum })
  const min = exclusiveMinimum ?? minimum
  return fc.double({ min, max: maximum, minExcluded: exclusiveMinimum !== undefined, noNaN: true })
}

const hostileStrings = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '😀'.repeat(50),
  '\u202eright to left',
  'שלום عالم',
  'e\u0301'.repeat(20),
  '\ufeff',
  "'; drop table events; --",
  '%00',
  '%',
  '../../etc/passwd',
  '{{secrets.x}}',
  '<script>',
  '\r\nX: y',
  '__proto__',
  'constructor',
  'null',
  '$1',
  '\\',
  '*',
  '-1',
  '0',
  '9'.repeat(400),
]
const edgeDates = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
  '2024-02-29T00:00:00Z',
  '2023-02-29T00:00:00Z',
  '2024-01-01T24:00:00Z',
  '2016-12-31T23:59:60Z',
  '2024-01-01T00:00:00+14:00',
  '2024-01-01T00:00:00-23:59',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '9999-12-31T23:59:59-14:00',
  '0000-01-01T00:00:00+14:00',
  '2024-01-01T00:00:00.123456789012345Z',
  '2024-01-01',
]

function edgeStrings(schema: JsonSchema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength } = schema
  const lengths = [
    minLength - 1,
    minLength,
    minLength + 1,
    ...(maxLength ? [maxLength, maxLength + 1] : [70_000]),
  ]
  const atLengths = lengths.filter((length) => length >= 0).map((length) => 'x'.repeat(length))
  const wide =
    maxLength === undefined || maxLength > 5000 ? [] : ['😀'.repeat(maxLength), 'é'.repeat(maxLength)]
  const near = schema.pattern === undefined ? [] : [strings(schema)]
  return fc.oneof(
    fc.constantFrom(...atLengths, ...wide),
    fc.constantFrom(...(schema.format === 'date-time' ? edgeDates : hostileStrings)),
    ...near,
    anyBytes,
  )
}
const anyBytes = fc.string({ unit: 'binary', maxLength: 20 })

function edgeNumbers(schema: JsonSchema): fc.Arbitrary<number> {
  const { minimum, maximum } = schema
  const edges = [minimum, maximum].flatMap((edge) => (edge === undefined ? [] : [edge - 1, edge, edge + 1]))
  const huge = [0, -0, -1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324]
  return fc.constantFrom(...edges, ...huge)
}

const nested = (depth: number) => Array.from({ length: depth }).reduce<unknown>((inner) => ({ a: inner }), 1)

/** For places that accept any JSON. */
export const edgeValues: Any = fc.oneof(
  fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }),
  fc.constantFrom(
    nested(50),
    nested(99),
    nested(100),
    nested(200),
    Array.from({ length: 2000 }, () => []),
    1e308,
  ),
  fc.constantFrom(...hostileStrings),
)
