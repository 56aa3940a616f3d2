import { ApiError, type ErrorDetail, Filter, filterMatches } from '@opsplane/contracts'
import { jsonPointer, validationFailed } from '@opsplane/http'

/** Filter of the database studio, which also supports alternatives. */
export type RowFilter = Record<string, unknown>

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A filter with its expressions evaluated. A value declared as a scalar stays a scalar: an expression cannot
 * introduce operators or lists. With `optional`, conditions with an empty value are omitted. Throws
 * `validation_failed`.
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

/** Scalars must stay scalars, and operators must be the declared ones. */
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

/** Searches ignore case and accents. */
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

/** A filter that requires all of these. Conditions of several filters on the same field are combined. */
export function combineFilters(filters: readonly RowFilter[]): RowFilter {
  const merged: RowFilter = {}
  const more: RowFilter[] = []
  for (const filter of filters) {
    // The studio would interpret the field as alternatives.
    if (Object.hasOwn(filter, 'or')) throw new ApiError('validation_failed', 'or is not a field.')
    const clashes = Object.keys(filter).some((field) => Object.hasOwn(merged, field))
    if (clashes) more.push(filter)
    else Object.assign(merged, filter)
  }
  return more.length === 0 ? merged : { ...merged, or: [combineFilters(more)] }
}

/**
 * Keeps a row within a filter. On a new row, fields with a single possible value are set to it, and the others must
 * be given. Throws `validation_failed` for values outside the filter.
 */
export function applyFilterValues(
  filter: Filter,
  values: Record<string, unknown>,
  isNew: boolean,
): Record<string, unknown> {
  const details: ErrorDetail[] = []
  const completed = { ...values }
  for (const [field, condition] of Object.entries(filter)) {
    // A path refers to part of a column's value. Values are given as a whole, so the condition cannot be checked and the
    // write is rejected.
    const [column = ''] = field.split('.', 1)
    const isWithin = column !== field
    if (isNew && !isWithin && !Object.hasOwn(values, field) && !isObject(condition))
      completed[field] = condition
    if (!isNew && !Object.hasOwn(completed, column)) continue
    const isSatisfied =
      !isWithin &&
      Object.hasOwn(completed, field) &&
      filterMatches({ [field]: condition }, { [field]: completed[field] })
    if (!isSatisfied)
      details.push({
        ...{ in: 'body', path: jsonPointer(['values', field]), code: 'outside_row_filter' },
        message: 'is outside the rows you may see',
      })
  }
  if (details.length > 0) throw validationFailed(details)
  return completed
}
