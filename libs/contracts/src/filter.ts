import { z } from 'zod'

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
type Scalar = z.infer<typeof Scalar>

const Operators = z
  .strictObject({
    in: z.array(Scalar).max(200),
    nin: z.array(Scalar).max(200),
    ne: Scalar,
    gt: z.union([z.number(), z.string()]),
    gte: z.union([z.number(), z.string()]),
    lt: z.union([z.number(), z.string()]),
    lte: z.union([z.number(), z.string()]),
    exists: z.boolean(),
    contains: Scalar,
    starts_with: z.string(),
  })
  .partial()
  .refine((operators) => Object.keys(operators).length > 0, 'must name at least one operator')
type Operators = z.infer<typeof Operators>

/** Conditions over dotted paths: paths are ANDed, operators within one condition are ANDed. */
export const Filter = z
  .record(z.string().min(1).max(200), z.union([Scalar, Operators]))
  .refine((filter) => Object.keys(filter).length <= 50, 'must have at most 50 conditions')
  .meta({ id: 'Filter', description: 'Conditions over dotted paths, all of which must hold.' })
export type Filter = z.infer<typeof Filter>

/** A dotted path into a document, such as `data.id`. */
export const DottedPath = z
  .string()
  .max(200)
  .regex(/^[^.\s]+(\.[^.\s]+)*$/, 'must be a dotted path such as data.id')

type Test = (value: unknown, operand: never) => boolean

const ordered =
  (holds: (comparison: number) => boolean) =>
  (value: unknown, operand: number | string): boolean => {
    if (typeof value === 'number' && typeof operand === 'number') return holds(value - operand)
    if (typeof value === 'string' && typeof operand === 'string')
      return holds(value < operand ? -1 : Number(value > operand))
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

/** Whether a document satisfies a filter. A path that leads nowhere has the value undefined. */
export function filterMatches(filter: Filter, document: unknown): boolean {
  return Object.entries(filter).every(([path, condition]) =>
    conditionHolds(condition, valueAt(document, path)),
  )
}

function conditionHolds(condition: Scalar | Operators, value: unknown): boolean {
  if (condition === null || typeof condition !== 'object') return value === condition
  return Object.entries(condition).every(([name, operand]) =>
    tests[name as keyof Operators](value, operand as never),
  )
}

/** The value at a dotted path; undefined when it leads nowhere. Arrays are entered by index. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document
  for (const key of path.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
