import { formats } from './formats.js'
import { formatPointerStep, isObject, type JsonSchema } from './schema.js'
import { isOfType, types } from './types.js'

/** A problem with the value of a keyword; `at` is a pointer relative to its schema. */
interface KeywordProblem {
  at: string
  message: string
}

type Test = (value: unknown) => string | undefined

const createTest =
  (isValid: (value: unknown) => boolean, message: string): Test =>
  (value) =>
    isValid(value) ? undefined : message

const areNames = (value: unknown) =>
  Array.isArray(value) &&
  value.every((name) => typeof name === 'string') &&
  new Set(value).size === value.length

const text = createTest(
  (value) => typeof value === 'string' && value.length <= 2_000,
  'must be a text of at most 2000 characters',
)
const number = createTest((value) => typeof value === 'number', 'must be a number')
const count = createTest(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  'must be a whole number from 0',
)
const flag = createTest((value) => typeof value === 'boolean', 'must be true or false')
const schemas = createTest((value) => Array.isArray(value) && value.length > 0, 'must be a list of schemas')
const schemasByName = createTest(isObject, 'must be an object')

const tests: Readonly<Record<string, Test>> = {
  ...{ title: text, description: text, $comment: text, $schema: text },
  type: createTest(
    (value) =>
      Array.isArray(value) ? value.length > 0 && value.every((one) => types.has(one)) : types.has(value),
    `must be one or several of ${[...types].join(', ')}`,
  ),
  enum: createTest((value) => Array.isArray(value) && value.length > 0, 'must be a list of values'),
  format: createTest((value) => typeof value === 'string', 'must be the name of a format'),
  required: createTest(areNames, 'must be a list of different names'),
  dependentRequired: createTest(
    (value) => isObject(value) && Object.values(value).every(areNames),
    'must give a list of different names for each name',
  ),
  ...{
    properties: schemasByName,
    patternProperties: schemasByName,
    dependentSchemas: schemasByName,
    $defs: schemasByName,
    definitions: schemasByName,
  },
  ...{ anyOf: schemas, oneOf: schemas, allOf: schemas, prefixItems: schemas },
  uniqueItems: flag,
  multipleOf: createTest((value) => typeof value === 'number' && value > 0, 'must be a number above 0'),
  ...{ minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number },
  ...{ minLength: count, maxLength: count, minItems: count, maxItems: count },
  ...{ minProperties: count, maxProperties: count, minContains: count, maxContains: count },
}

/**
 * Keywords of other drafts, and keywords that refer to other documents: ignoring them would silently skip their
 * constraints.
 */
const unsupportedKeywords: Readonly<Record<string, string>> = {
  $dynamicRef: 'is not supported; use $ref',
  $recursiveRef: 'is not supported; use $ref',
  dependencies: 'is not of draft 2020-12; use dependentRequired or dependentSchemas',
  additionalItems: 'is not of draft 2020-12; use items after prefixItems',
}

/** Keywords that do not constrain values. */
export const annotations: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$comment', 'title', 'description', 'examples', 'example', 'default'],
  ...['deprecated', 'readOnly', 'writeOnly', '$anchor', 'contentEncoding', 'contentMediaType'],
])
const known: ReadonlySet<string> = new Set([
  ...annotations,
  ...Object.keys(tests),
  ...['const', 'pattern', 'not', 'if', 'then', 'else', '$ref', 'items', 'contains', 'propertyNames'],
  ...['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'],
])

/** For each lower bound: the upper bounds that must not be lower, and whether both may be equal. */
const pairs: Readonly<Record<string, readonly [upper: string, meeting: boolean][]>> = {
  minimum: [
    ['maximum', true],
    ['exclusiveMaximum', false],
  ],
  exclusiveMinimum: [
    ['maximum', false],
    ['exclusiveMaximum', false],
  ],
  minLength: [['maxLength', true]],
  minItems: [['maxItems', true]],
  minProperties: [['maxProperties', true]],
  minContains: [['maxContains', true]],
}

/** The problem of one keyword, without its subschemas and patterns. */
export function keywordProblem(
  schema: JsonSchema,
  name: string,
  strict: boolean,
): KeywordProblem | undefined {
  const value = schema[name]
  const message =
    unsupportedKeywords[name] ??
    tests[name]?.(value) ??
    (name === 'items' && Array.isArray(value)
      ? 'must be one schema; those of the first items are prefixItems'
      : undefined) ??
    (strict ? uselessness(schema, name, value) : undefined)
  if (message !== undefined) return { at: formatPointerStep(name), message }
  return strict ? typeProblem(schema, name, value) : undefined
}

/** Why a well-formed keyword has no effect, or rejects every value. */
function uselessness(schema: JsonSchema, name: string, value: unknown): string | undefined {
  if (!known.has(name) && !name.startsWith('x-')) return 'is a keyword that is not supported'
  if (name === 'format' && !formats.has(String(value))) return `must be one of ${[...formats].join(', ')}`
  if ((name === 'then' || name === 'else') && schema.if === undefined) return 'needs if'
  return pairProblem(schema, name, value)
}

function pairProblem(schema: JsonSchema, name: string, value: unknown): string | undefined {
  for (const [upper, meeting] of pairs[name] ?? []) {
    const maxValue = schema[upper]
    if (typeof maxValue !== 'number') continue
    if (Number(value) > maxValue) return `must not be more than ${upper}`
    if (Number(value) === maxValue && !meeting) return `must be less than ${upper}`
  }
  return undefined
}

/** A value of `enum` or `const` that the schema's `type` excludes can never match. */
function typeProblem({ type }: JsonSchema, name: string, value: unknown): KeywordProblem | undefined {
  if ((name !== 'enum' && name !== 'const') || ![type].flat().every((one) => types.has(one))) return undefined
  const values = name === 'enum' && Array.isArray(value) ? value : [value]
  const stray = values.findIndex((one) => !isOfType(type, one))
  if (stray < 0) return undefined
  const at = name === 'enum' ? `/enum/${stray}` : '/const'
  return { at, message: `must be of the type given by "type", ${[type].flat().join(' or ')}` }
}
