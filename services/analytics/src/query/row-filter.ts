import { ExactNumber, type Filter, filterMatches, type ResultColumnType } from '@opsplane/contracts'
import { parseDecimal } from '../decimal/decimal.js'
import type { ColumnTypes } from './record-columns.js'

type Condition = Filter[string]
/** Below, at or above zero; undefined where one of them is no value of the type. */
type Compare = (value: unknown, operand: unknown) => number | undefined

const decimals: Compare = (value, operand) => {
  const [left, right] = [parseDecimal(value), parseDecimal(operand)]
  return left && right ? (left.comparedTo(right) ?? undefined) : undefined
}

const instants: Compare = (value, operand) => {
  const difference = Date.parse(String(value)) - Date.parse(String(operand))
  return Number.isNaN(difference) ? undefined : difference
}

/** How values are compared that have an order, or several texts, of their own. */
const comparisons: Partial<Record<ResultColumnType, Compare>> = {
  ...{ integer: decimals, bigint: decimals, number: decimals, decimal: decimals, timestamp: instants },
}

/** Whether a row of a saved query satisfies a filter: numbers are compared by their exact values, instants by when they are. */
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
