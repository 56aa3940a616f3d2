import { ApiError } from '@opsplane/contracts'
import type { Pattern } from './pattern.js'
import type { Fault, JsonSchema } from './schema.js'

/** What one check may cost, in comparisons: a fraction of a second. Schema and data come from users, and may be made to multiply. */
const maxSteps = 1_000_000

/** Spends steps. Throws validation_failed when there are none left. */
export type Spend = (steps: number) => void

/** The steps of one check of what is at `path`. */
export function stepsFor(path: string, message = 'It is too large to be held against this schema.'): Spend {
  let left = maxSteps
  return (steps) => {
    left -= steps
    if (left >= 0) return
    throw new ApiError('validation_failed', message, {
      details: [{ in: 'body', path, code: 'too_costly', message }],
    })
  }
}

/** One way of data through a schema. */
export interface Walk {
  /** Where references lead. */
  root: JsonSchema
  faults: Fault[]
  spend: Spend
  /** Each is read once in a check, however many texts it is held against. */
  patterns: Map<string, Pattern>
}

export interface Place {
  path: string
  schemaPath: string
  closed: boolean
  partial: boolean
}

export type Check = (schema: JsonSchema, value: unknown, at: Place, walk: Walk) => void

export function fault({ faults }: Walk, at: Place, keyword: string, code: string, message: string): void {
  const schemaPath = keyword === '' ? at.schemaPath : `${at.schemaPath}/${keyword}`
  faults.push({ path: at.path, schemaPath, code, message })
}

type Bounds = readonly [least: string, most: string, what: string]

export function checkBounds(schema: JsonSchema, count: number, bounds: Bounds, at: Place, walk: Walk): void {
  const [least, most, what] = bounds
  const { [least]: minimum, [most]: maximum } = schema
  if (typeof minimum === 'number' && count < minimum)
    fault(walk, at, least, 'too_small', `must have at least ${minimum} ${what}`)
  if (typeof maximum === 'number' && count > maximum)
    fault(walk, at, most, 'too_big', `must have at most ${maximum} ${what}`)
}
