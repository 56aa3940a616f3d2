import fc from 'fast-check'
import type { JsonSchema } from './schema.js'

const names = ['a', 'b', 'c', '/~', '__proto__', 'constructor']
const texts = ['', 'a', 'b', 'ab', 'AB-1234', '🙂', 'toString', '2026-02-28']
const numbers = [-1, 0, 0.5, 1, 2, 3, 4, 0.3]
const name = fc.constantFrom(...names)
const scalar = fc.constantFrom<unknown>(...texts, ...numbers, true, false, null)
const small = fc.integer({ min: 0, max: 3 })
const someNames = fc.uniqueArray(name, { maxLength: 3 })
/** Creates own properties even for names such as `__proto__`, which an assignment would treat differently. */
const record = <T>(of: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(name, of), { maxLength: 3 }).map((entries) => Object.fromEntries(entries))
const some = (parts: Record<string, fc.Arbitrary<unknown>>) => fc.record(parts, { requiredKeys: [] })

/** JSON values that use the same names and texts as the schemas. */
export const { value: someValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    record(tie('value')),
  ),
}))

/** Schemas with all constraining keywords, and references to definitions, which may be recursive. */
export const { document: someSchema } = fc.letrec<{ schema: JsonSchema | boolean; document: JsonSchema }>(
  (tie) => {
    const schema = tie('schema')
    const text = some({
      minLength: small,
      maxLength: small,
      pattern: fc.constantFrom('^[A-Z]{2}-\\d{4}$', 'b', '^.$', '[^a]', '^(?:a|b)*$', '\\w'),
    })
    const number = some({
      minimum: small,
      exclusiveMinimum: small,
      maximum: small,
      exclusiveMaximum: small,
      multipleOf: fc.constantFrom(0.5, 1, 2, 0.1),
    })
    const list = some({
      items: schema,
      prefixItems: fc.array(schema, { minLength: 1, maxLength: 2 }),
      contains: schema,
      minItems: small,
      maxItems: small,
      uniqueItems: fc.boolean(),
      unevaluatedItems: schema,
    })
    const object = some({
      properties: record(schema),
      patternProperties: fc
        .tuple(fc.constantFrom('^a', '[bc]', '_'), schema)
        .map((entry) => Object.fromEntries([entry])),
      required: someNames,
      dependentRequired: record(someNames),
      dependentSchemas: record(schema),
      propertyNames: schema,
      minProperties: small,
      maxProperties: small,
    })
    const closing = fc.oneof(
      fc.constant({}),
      some({ additionalProperties: schema }),
      some({ unevaluatedProperties: schema }),
    )
    const several = fc.array(schema, { minLength: 1, maxLength: 3 })
    const choice = fc.oneof(
      fc.record({ anyOf: several }),
      fc.record({ oneOf: several }),
      fc.record({ allOf: several }),
      fc.record({ not: schema }),
      fc.record({ if: schema, then: schema, else: schema }, { requiredKeys: ['if'] }),
    )
    const typed = fc.constantFrom<unknown>(
      'string',
      'number',
      'integer',
      'boolean',
      'null',
      'array',
      'object',
    )
    const type = fc.oneof(typed, fc.uniqueArray(typed, { minLength: 1, maxLength: 3 }))
    const merged = (...parts: fc.Arbitrary<object>[]) =>
      fc.tuple(...parts).map((found): JsonSchema => Object.assign({}, ...found))
    const typeOrNone = some({ type })
    return {
      schema: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.boolean(),
        merged(typeOrNone, text),
        merged(typeOrNone, number),
        fc.record({ enum: fc.array(someValue, { minLength: 1, maxLength: 4 }) }),
        fc.record({ const: someValue }),
        merged(typeOrNone, list),
        merged(typeOrNone, object, closing),
        merged(object, closing, choice),
        merged(choice, typeOrNone),
        fc.record({ $ref: fc.constantFrom('#/$defs/d0', '#/$defs/d1', '#/$defs/d2') }),
      ),
      document: fc
        .tuple(schema, schema, schema, merged(object, closing, choice, typeOrNone))
        .map(([d0, d1, d2, root]) => ({ ...root, $defs: { d0, d1, d2 } })),
    }
  },
)
