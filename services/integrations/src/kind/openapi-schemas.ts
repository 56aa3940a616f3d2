import { isObject, type JsonSchema } from '@opsplane/json-schema'

/** The value at a reference such as `#/components/schemas/Pet`; `undefined` for a broken or external reference. */
export function resolveRef(root: unknown, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined
  return ref
    .slice(2)
    .split('/')
    .map((part) => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, name) => (isHolder(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined),
      root,
    )
}

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Follows references of parameters, bodies and responses, at most 10 in a row. */
export function dereference(root: unknown, value: unknown): JsonSchema | undefined {
  let current = value
  for (let hops = 0; hops < 10 && isObject(current) && typeof current.$ref === 'string'; hops++)
    current = resolveRef(root, current.$ref)
  return isObject(current) && typeof current.$ref !== 'string' ? current : undefined
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * A self-contained schema: the schemas it refers to are copied to `$defs`, nearest first, up to `maxBytes`.
 * References that do not fit accept any value. Keywords specific to OpenAPI 3.0 are converted to JSON Schema.
 */
export function toStandaloneSchema(
  root: unknown,
  schema: unknown,
  { maxBytes, is30 }: { maxBytes: number; is30: boolean },
): JsonSchema {
  const names = new Map<string, string>()
  const waiting: string[] = []
  const nameOf = (ref: string): string => {
    const known = names.get(ref)
    if (known !== undefined) return known
    const plain = ref.slice(ref.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_.-]/g, '_') || 'schema'
    const name = [...names.values()].includes(plain) ? `${plain}_${names.size}` : plain
    names.set(ref, name)
    waiting.push(ref)
    return name
  }
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite)
    if (!isObject(value)) return value
    if (typeof value.$ref === 'string')
      return value.$ref.startsWith('#/') ? { $ref: `#/$defs/${nameOf(value.$ref)}` } : {}
    const copy = mapped(value, (inner, key) => {
      if (literal.has(key)) return inner
      if (typeof inner === 'string') return words.has(key) ? inner.slice(0, maxWords) : inner
      return schemaMapKeywords.has(key) && isObject(inner) ? mapped(inner, rewrite) : rewrite(inner)
    })
    return is30 ? modern(copy) : copy
  }
  const whole = rewrite(schema)
  const top: JsonSchema = isObject(whole) ? whole : {}
  let left = maxBytes - size(top)
  if (left < 0) return {}
  const definitions: JsonSchema = {}
  for (let ref = waiting.shift(); ref !== undefined; ref = waiting.shift()) {
    const waitingBefore = waiting.length
    const definition = rewrite(resolveRef(root, ref) ?? {})
    left -= size(definition)
    const name = names.get(ref) ?? ''
    if (left < 0) waiting.length = waitingBefore
    definitions[name] = left < 0 ? {} : definition
  }
  for (const name of names.values()) definitions[name] ??= {}
  return names.size === 0 ? top : { ...top, $defs: definitions }
}

/** Values of these keywords are data, not schemas. */
const literal = new Set(['example', 'examples', 'default', 'enum', 'const'])
/** Values of these keywords are maps from names to schemas. */
const schemaMapKeywords = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
])
/** Texts for people, which are truncated because documents can contain very long ones. */
const words = new Set(['title', 'description'])
const maxWords = 500

const mapped = (value: JsonSchema, change: (inner: unknown, key: string) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner, key)]))

const size = (value: unknown) => JSON.stringify(value)?.length ?? 0

/** Converts keywords that differ between OpenAPI 3.0 and JSON Schema. */
function modern({ nullable, exclusiveMinimum, exclusiveMaximum, ...schema }: JsonSchema): JsonSchema {
  const bounds: JsonSchema = {}
  if (typeof exclusiveMinimum === 'number') bounds.exclusiveMinimum = exclusiveMinimum
  if (typeof exclusiveMaximum === 'number') bounds.exclusiveMaximum = exclusiveMaximum
  if (exclusiveMinimum === true)
    Object.assign(bounds, { exclusiveMinimum: schema.minimum, minimum: undefined })
  if (exclusiveMaximum === true)
    Object.assign(bounds, { exclusiveMaximum: schema.maximum, maximum: undefined })
  const merged = withoutUndefined({ ...schema, ...bounds })
  if (nullable !== true) return merged
  return typeof merged.type === 'string' && merged.enum === undefined
    ? { ...merged, type: [merged.type, 'null'] }
    : { anyOf: [merged, { type: 'null' }] }
}

const withoutUndefined = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
