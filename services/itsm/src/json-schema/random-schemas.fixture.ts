import { seededRandom } from '@opsplane/testing'
import { resolved } from './references.js'
import { isObject, type JsonSchema } from './schema.js'

/** Schemas of all keywords but formats, and values that mostly fit them. */
export function randomSchemas(seed: number) {
  const next = seededRandom(seed)
  const chance = (of: number) => next() < of
  const below = (count: number) => Math.floor(next() * count)
  function pick<T>(...choices: T[]): T {
    const choice = choices[below(choices.length)]
    if (choice === undefined) throw new Error('Nothing to pick from.')
    return choice
  }
  const many = <T>(most: number, one: () => T): T[] => Array.from({ length: below(most + 1) }, one)
  /** Each part, or not. */
  const some = (parts: Record<string, () => unknown>, of = 0.3): JsonSchema =>
    Object.fromEntries(
      Object.entries(parts).flatMap(([name, part]) => (chance(of) ? [[name, part()] as const] : [])),
    )

  const texts = ['', 'a', 'b', 'ab', 'AB-1234', '🙂', 'toString']
  const numbers = [-1, 0, 0.5, 1, 2, 3, 4]
  const names = ['a', 'b', 'c']
  const scalar = () => pick<string | number | boolean | null>(...texts, ...numbers, true, false, null)
  const someNames = () => names.filter(() => chance(0.4))

  function text(): JsonSchema {
    const pattern = () => pick('^[A-Z]{2}-\\d{4}$', 'b', '^.$', '[^a]', '^(?:a|b)*$', '\\w')
    return { type: 'string', ...some({ minLength: () => below(2), maxLength: () => 1 + below(7), pattern }) }
  }
  const number = (): JsonSchema => ({
    type: pick('number', 'integer'),
    ...some({
      minimum: () => below(2),
      exclusiveMinimum: () => below(2),
      maximum: () => 3 + below(2),
      exclusiveMaximum: () => 3 + below(2),
      multipleOf: () => pick(0.5, 1, 2),
    }),
  })
  function list(depth: number): JsonSchema {
    const bounds = { minItems: () => below(2), maxItems: () => 2 + below(2), uniqueItems: () => true }
    return { type: 'array', items: schema(depth - 1), ...some(bounds) }
  }
  const content = (depth: number): JsonSchema => ({
    properties: Object.fromEntries(names.map((name) => [name, schema(depth - 1)])),
    ...some({
      required: someNames,
      dependentRequired: () => ({ [pick(...names)]: someNames() }),
      additionalProperties: () => pick<unknown>(true, false, schema(0)),
    }),
  })
  const object = (depth: number): JsonSchema => ({ type: 'object', ...content(depth), ...choices(depth) })
  /** Of the value around it, which need not be an object. */
  function told(depth: number): unknown {
    if (chance(0.5)) return schema(depth - 1)
    return Object.fromEntries(Object.entries(content(depth - 1)).filter(() => chance(0.5)))
  }
  const several = (depth: number) => [told(depth), ...many(2, () => told(depth))]
  const branches = (depth: number): JsonSchema =>
    Object.fromEntries(['then', 'else'].filter(() => chance(0.7)).map((name) => [name, told(depth)]))
  const choices = (depth: number): JsonSchema => ({
    ...some(
      {
        anyOf: () => several(depth),
        oneOf: () => several(depth),
        allOf: () => several(depth),
        not: () => told(depth),
      },
      0.15,
    ),
    ...(chance(0.2) ? { if: told(depth), ...branches(depth) } : {}),
  })

  function schema(depth: number): unknown {
    const scalars: ((depth: number) => unknown)[] = [
      text,
      number,
      () => ({ enum: [scalar(), scalar(), scalar()] }),
      () => ({ const: scalar() }),
      () => ({ type: ['integer', 'null'], maximum: 2 }),
      () => pick<unknown>(true, {}, { type: 'boolean' }, { type: 'null' }),
    ]
    if (depth <= 0) return pick(...scalars)(depth)
    const nested: typeof scalars = [
      object,
      list,
      (depth: number) => ({ anyOf: several(depth), ...choices(depth) }),
    ]
    return pick(...scalars, ...nested, ...nested, () => ({ $ref: `#/$defs/d${depth}` }))(depth)
  }
  const whole = (): JsonSchema => ({
    ...object(3),
    $defs: { d1: schema(0), d2: object(1), d3: list(2) },
  })

  /** Mostly what the schema says, so that not everything is wrong at once. */
  function valueFor(root: JsonSchema, given: unknown, depth: number): unknown {
    const { schema } = resolved(root, given)
    const anything = () => pick<unknown>(scalar(), [], {}, { a: scalar() }, [scalar(), scalar()])
    if (!isObject(schema) || depth < 0 || chance(0.05)) return anything()
    const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray)
    if (Array.isArray(schema.enum)) return pick(...schema.enum)
    if ('const' in schema) return schema.const
    const type = schema.type ?? (isObject(schema.properties) ? 'object' : undefined)
    switch ([type].flat()[0]) {
      case 'string':
        return pick(...texts)
      case 'number':
      case 'integer':
        return pick(...numbers)
      case 'boolean':
        return pick(true, false)
      case 'array':
        return many(3, () => valueFor(root, schema.items, depth - 1))
      case 'object': {
        const properties = isObject(schema.properties) ? schema.properties : {}
        const held = Object.entries(properties).filter(() => chance(0.7))
        const fields = held.map(([name, inner]) => [name, valueFor(root, inner, depth - 1)] as const)
        return { ...Object.fromEntries(fields), ...some({ d: scalar }, 0.1) }
      }
      default:
        return alternatives ? valueFor(root, pick(...alternatives), depth - 1) : anything()
    }
  }

  return { schema: whole, valueFor: (schema: JsonSchema) => valueFor(schema, schema, 4) }
}
