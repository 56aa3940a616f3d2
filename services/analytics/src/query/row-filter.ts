import { ExactNumber, type Filter, filterMatches, type ResultColumnType } from '@opsplane/contracts'
import { parseDecimal } from '../decimal/decimal.js'
import type { ColumnTypes } from './record-columns.js'

type Condition = Filter[string]
/** Negative, zero or positive; `undefined` if either is not a value of the type. */
type Compare = (value: unknown, operand: unknown) => number | undefined

const decimals: Compare = (value, operand) => {
  const [left, right] = [parseDecimal(value), parseDecimal(operand)]
  return left && right ? (left.comparedTo(right) ?? undefined) : undefined
}

const instants: Compare = (value, operand) => {
  const difference = Date.parse(String(value)) - Date.parse(String(operand))
  return Number.isNaN(difference) ? undefined : difference
}

/** Comparisons for types whose values are not ordered like their texts, or have several equal texts. */
const comparisons: Partial<Record<ResultColumnType, Compare>> = {
  ...{ integer: decimals, bigint: decimals, number: decimals, decimal: decimals, timestamp: instants },
}

/** Whether a row of a saved query matches a filter. Numbers are compared exactly, instants by time. */
export function rowMatches(
  filters: Filter,
  types: ColumnTypes,
  row: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filters).every(([name, condition]) => {
    const type = types.get(name)
    const compare = type && comparisons[type]
    return compare
      ? matchesCondition(condition, row[name] ?? null, compare)
      : filterMatches({ [name]: condition }, row)
  })
}

function matchesCondition(condition: Condition, value: unknown, compare: Compare): boolean {
  const equals = (operand: unknown) => (value === null ? operand === null : compare(value, operand) === 0)
  if (condition === null || typeof condition !== 'object' || condition instanceof ExactNumber)
    return equals(condition)
  const below = Number.NEGATIVE_INFINITY
  return Object.entries(condition).every(([operator, operand]) => {
    switch (operator) {
      case 'in':
        return (operand as unknown[]).some(equals)
      case 'nin':
        return !(operand as unknown[]).some(equals)
      case 'ne':
        return !equals(operand)
      case 'gt':
        return (compare(value, operand) ?? below) > 0
      case 'gte':
        return (compare(value, operand) ?? below) >= 0
      case 'lt':
        return (compare(value, operand) ?? -below) < 0
      case 'lte':
        return (compare(value, operand) ?? -below) <= 0
      default:
        return filterMatches({ value: { [operator]: operand } as Condition }, { value })
    }
  })
}
