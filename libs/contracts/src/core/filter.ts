import { z } from 'zod'
import { compareNumbers, ExactNumber } from '../json/exact-json.js'

type Scalar = string | number | boolean | null

function operators<Text extends z.ZodType<string>>(text: Text) {
  const scalar = z.union([text, z.number(), z.boolean(), z.null()])
  const ordinal = z.union([z.number(), text])
  return z
    .strictObject({
      in: z.array(scalar).max(200),
      nin: z.array(scalar).max(200),
      ne: scalar,
      gt: ordinal,
      gte: ordinal,
      lt: ordinal,
      lte: ordinal,
      exists: z.boolean(),
      contains: scalar,
      starts_with: text,
    })
    .partial()
    .refine((condition) => Object.keys(condition).length > 0, 'must name at least one operator')
}
type Operators = z.infer<ReturnType<typeof operators>>

function filterOf<Text extends z.ZodType<string>>(text: Text) {
  const scalar = z.union([text, z.number(), z.boolean(), z.null()])
  return z
    .record(z.string().min(1).max(200), z.union([scalar, operators(text)]))
    .refine((filter) => Object.keys(filter).length <= 50, 'must have at most 50 conditions')
}

/** Conditions over dotted paths: paths are ANDed, operators within one condition are ANDed. */
export const Filter = filterOf(z.string()).meta({
  id: 'Filter',
  description: 'Conditions on dotted paths. All of them must be met.',
})
export type Filter = z.infer<typeof Filter>

const maxText = 1_000
const maxFilter = 32_768

/**
 * A filter as accepted in requests. Filters stored before these limits existed remain valid as `Filter`. The limit
 * leaves room for several filters in one event.
 */
export const NewFilter = filterOf(z.string().max(maxText))
  .refine(
    (filter) => JSON.stringify(filter).length <= maxFilter,
    `must have at most ${maxFilter} characters, written as JSON`,
  )
  .meta({
    id: 'NewFilter',
    description:
      'Conditions on dotted paths, all of which must be met. At most 50 conditions and 32,768 characters in total, ' +
      'written as JSON.',
  })

/** A dotted path into a document, such as `data.id`. */
export const DottedPath = z
  .string()
  .max(200)
  .regex(/^[^.\s]+(\.[^.\s]+)*$/, 'must be a dotted path such as data.id')

type Test = (value: unknown, operand: never) => boolean

const ordered =
  (predicate: (comparison: number) => boolean) =>
  (value: unknown, operand: number | string): boolean => {
    const isNumber = typeof value === 'number' || value instanceof ExactNumber
    if (isNumber && typeof operand === 'number') return predicate(compareNumbers(value, operand))
    if (typeof value === 'string' && typeof operand === 'string')
      return predicate(value < operand ? -1 : Number(value > operand))
    return false
  }

const tests: Record<keyof Operators, Test> = {
  in: (value, operand: Scalar[]) => operand.includes(value as Scalar),
  nin: (value, operand: Scalar[]) => !operand.includes(value as Scalar),
  ne: (value, operand: Scalar) => value !== operand,
  gt: ordered((comparison) => comparison > 0),
  gte: ordered((comparison) => comparison >= 0),
  lt: ordered((comparison) => comparison < 0),
  lte: ordered((comparison) => comparison <= 0),
  exists: (value, operand: boolean) => (value !== undefined) === operand,
  contains: (value, operand: Scalar) =>
    Array.isArray(value)
      ? value.includes(operand)
      : typeof value === 'string' && typeof operand === 'string' && value.includes(operand),
  starts_with: (value, operand: string) => typeof value === 'string' && value.startsWith(operand),
}

/** Whether a document satisfies a filter. A path that does not exist has the value `undefined`. */
export function filterMatches(filter: Filter, document: unknown): boolean {
  return Object.entries(filter).every(([path, condition]) =>
    matchesCondition(condition, valueAt(document, path)),
  )
}

function matchesCondition(condition: Scalar | Operators, value: unknown): boolean {
  if (condition === null || typeof condition !== 'object') return value === condition
  return Object.entries(condition).every(([name, operand]) =>
    tests[name as keyof Operators](value, operand as never),
  )
}

/** The value at a dotted path; `undefined` if the path does not exist. Array items are addressed by index. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document
  for (const key of path.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
