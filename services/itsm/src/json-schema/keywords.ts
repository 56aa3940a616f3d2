import { formats } from './formats.js'
import { isObject, type JsonSchema } from './schema.js'
import { isOfType, types } from './types.js'

/** What is wrong with the value of a keyword; `at` is a pointer below its schema. */
export interface KeywordFault {
  at: string
  problem: string
}

type Test = (value: unknown) => string | undefined

const unless =
  (holds: (value: unknown) => boolean, problem: string): Test =>
  (value) =>
    holds(value) ? undefined : problem

const text = unless(
  (value) => typeof value === 'string' && value.length <= 2_000,
  'must be a text of at most 2000 characters',
)
const number = unless((value) => typeof value === 'number', 'must be a number')
const count = unless(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  'must be a whole number from 0',
)
const isScalar = (value: unknown) => value === null || typeof value !== 'object'

const schemas = unless((value) => Array.isArray(value) && value.length > 0, 'must be a list of schemas')
const areNames = (value: unknown) =>
  Array.isArray(value) &&
  value.every((name) => typeof name === 'string') &&
  new Set(value).size === value.length

const tests: Readonly<Record<string, Test>> = {
  $schema: text,
  title: text,
  description: text,
  type: unless(
    (value) =>
      Array.isArray(value) ? value.length > 0 && value.every((one) => types.has(one)) : types.has(value),
    `must be one or several of ${[...types].join(', ')}`,
  ),
  enum: unless(
    (value) => Array.isArray(value) && value.length > 0 && value.every(isScalar),
    'must be a list of texts, numbers, booleans or null',
  ),
  const: unless(isScalar, 'must be a text, number, boolean or null'),
  format: unless(
    (value) => typeof value === 'string' && formats.has(value),
    `must be one of ${[...formats].join(', ')}`,
  ),
  required: unless(areNames, 'must be a list of different names'),
  dependentRequired: unless(
    (value) => isObject(value) && Object.values(value).every(areNames),
    'must give a list of different names for each name',
  ),
  properties: unless(isObject, 'must be an object'),
  $defs: unless(isObject, 'must be an object'),
  ...{ anyOf: schemas, oneOf: schemas, allOf: schemas },
  uniqueItems: unless((value) => typeof value === 'boolean', 'must be true or false'),
  multipleOf: unless((value) => typeof value === 'number' && value > 0, 'must be a number above 0'),
  ...{ minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number },
  ...{ minLength: count, maxLength: count, minItems: count, maxItems: count },
}

/** For each lower bound the upper ones that must leave room above it, and whether the bound itself is enough room. */
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
}

/** What is wrong with one keyword of a schema, apart from the schemas in it. */
export function keywordFault(schema: JsonSchema, name: string, value: unknown): KeywordFault | undefined {
  const problem = tests[name]?.(value) ?? pairProblem(schema, name, value) ?? branchProblem(schema, name)
  return problem === undefined ? typeFault(schema, name, value) : { at: `/${name}`, problem }
}

function pairProblem(schema: JsonSchema, name: string, value: unknown): string | undefined {
  for (const [upper, meeting] of pairs[name] ?? []) {
    const most = schema[upper]
    if (typeof most !== 'number') continue
    if (Number(value) > most) return `must not be more than ${upper}`
    if (Number(value) === most && !meeting) return `must be less than ${upper}`
  }
  return undefined
}

/** A value that the type beside it rules out can never be given. */
function typeFault({ type }: JsonSchema, name: string, value: unknown): KeywordFault | undefined {
  if ((name !== 'enum' && name !== 'const') || ![type].flat().every((one) => types.has(one))) return undefined
  const stray = [value].flat().findIndex((one) => !isOfType(type, one))
  const at = name === 'enum' ? `/enum/${stray}` : '/const'
  return stray < 0
    ? undefined
    : { at, problem: `must be of the type beside it, ${[type].flat().join(' or ')}` }
}

/** A branch does nothing without a condition. */
function branchProblem(schema: JsonSchema, name: string): string | undefined {
  return (name === 'then' || name === 'else') && schema.if === undefined ? 'needs if' : undefined
}
