import { ApiError, type ErrorDetail, Filter, filterMatches } from '@opsplane/contracts'
import { jsonPointer, validationFailed } from '@opsplane/http'

/** Conditions of the database studio, which knows alternatives as well. */
export type RowFilter = Record<string, unknown>

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A filter with its expressions evaluated. What was declared as one value is one: an expression puts in no operators and no
 * lists. With `optional`, conditions that came to nothing are left out. Throws `validation_failed`.
 */
export function evaluateFilter(declared: Filter, evaluated: unknown, optional = false): Filter {
  const values = isObject(evaluated) ? evaluated : {}
  const bent = Object.entries(declared).find(([field, condition]) => !hasShape(condition, values[field]))
  const parsed = Filter.safeParse(optional ? withoutEmpty(values) : values)
  if (bent || !parsed.success)
    throw new ApiError(
      'validation_failed',
      `A condition${bent ? ` on ${bent[0]}` : ''} came to what is no value.`,
    )
  return parsed.data
}

/** Scalars stay scalars, and operators those that were declared. */
function hasShape(declared: unknown, value: unknown): boolean {
  if (Array.isArray(declared))
    return Array.isArray(value) && value.every((item) => item === null || typeof item !== 'object')
  if (!isObject(declared)) return value === null || typeof value !== 'object'
  return (
    isObject(value) &&
    Object.keys(value).length === Object.keys(declared).length &&
    Object.entries(declared).every(
      ([operator, operand]) => Object.hasOwn(value, operator) && hasShape(operand, value[operator]),
    )
  )
}

function withoutEmpty(filter: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (condition: unknown) =>
    condition === null ||
    condition === '' ||
    (isObject(condition) && Object.values(condition).some(isNothing))
  return Object.fromEntries(Object.entries(filter).filter(([, condition]) => !isEmpty(condition)))
}
const isNothing = (operand: unknown) => operand === null || operand === ''

const asSearched: Readonly<Record<string, string>> = { contains: 'matches', starts_with: 'matches_start' }

/** What people look for they find in upper or lower case, with or without accents. */
export const toSearchFilter = (filter: Filter): RowFilter =>
  Object.fromEntries(
    Object.entries(filter).map(([field, condition]) => [
      field,
      isObject(condition)
        ? Object.fromEntries(
            Object.entries(condition).map(([operator, operand]) => [
              asSearched[operator] ?? operator,
              operand,
            ]),
          )
        : condition,
    ]),
  )

/** A filter that requires all of these. Conditions of several on the same field are combined. */
export function combineFilters(filters: readonly RowFilter[]): RowFilter {
  const merged: RowFilter = {}
  const more: RowFilter[] = []
  for (const filter of filters) {
    // It would be taken for alternatives.
    if (Object.hasOwn(filter, 'or')) throw new ApiError('validation_failed', 'or is not a field.')
    const clashes = Object.keys(filter).some((field) => Object.hasOwn(merged, field))
    if (clashes) more.push(filter)
    else Object.assign(merged, filter)
  }
  return more.length === 0 ? merged : { ...merged, or: [combineFilters(more)] }
}

/**
 * Values that leave a row within a filter: of a new row, fields with one possible value have it, and the others must be
 * given. Throws `validation_failed` for what would be outside.
 */
export function applyFilterValues(
  filter: Filter,
  values: Record<string, unknown>,
  isNew: boolean,
): Record<string, unknown> {
  const details: ErrorDetail[] = []
  const completed = { ...values }
  for (const [field, condition] of Object.entries(filter)) {
    // A path leads into the value of its column, which is given whole.
    const [column = ''] = field.split('.', 1)
    const isWithin = column !== field
    if (isNew && !isWithin && !Object.hasOwn(values, field) && !isObject(condition))
      completed[field] = condition
    if (!isNew && !Object.hasOwn(completed, column)) continue
    const holds =
      !isWithin &&
      Object.hasOwn(completed, field) &&
      filterMatches({ [field]: condition }, { [field]: completed[field] })
    if (!holds)
      details.push({
        ...{ in: 'body', path: jsonPointer(['values', field]), code: 'outside_row_filter' },
        message: 'is outside the rows you may see',
      })
  }
  if (details.length > 0) throw validationFailed(details)
  return completed
}
