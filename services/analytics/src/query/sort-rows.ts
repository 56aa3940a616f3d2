import type { AnalyticsQuery, JsonValue, Quantity, ResultColumn, ResultColumnType } from '@opsplane/contracts'
import { compareQuantities } from '../decimal/decimal.js'
import type { AnswerRow } from './fact-answer.js'

const rank = (value: JsonValue | undefined) => (value === null || value === undefined ? 1 : 0)

const numericTypes = new Set<ResultColumnType>(['integer', 'bigint', 'number', 'decimal'])

/** Missing values are last in either direction. */
function compare(
  a: JsonValue | undefined,
  b: JsonValue | undefined,
  { sign, type }: { sign: number; type: ResultColumnType | undefined },
): number {
  if (rank(a) || rank(b)) return rank(a) - rank(b)
  // Some values may be strings of digits.
  if (type && numericTypes.has(type)) return sign * compareQuantities(a as Quantity, b as Quantity)
  const [left, right] = [String(a), String(b)]
  return left === right ? 0 : sign * (left < right ? -1 : 1)
}

/** Sorts by the requested column, then by time and dimensions, so that the order is deterministic. */
export function sortRows(
  rows: AnswerRow[],
  columns: readonly ResultColumn[],
  sort: AnalyticsQuery['sort'],
): AnswerRow[] {
  const requestedSort =
    sort === undefined ? [] : [{ name: sort.replace(/^-/, ''), sign: sort.startsWith('-') ? -1 : 1 }]
  const groupSort = columns.filter(({ role }) => role !== 'measure').map(({ name }) => ({ name, sign: 1 }))
  const types = new Map(columns.map(({ name, type }) => [name, type]))
  const by = [...requestedSort, ...groupSort].map((each) => ({ ...each, type: types.get(each.name) }))
  return rows.sort((a, b) => {
    for (const { name, ...how } of by) {
      const order = compare(a[name], b[name], how)
      if (order !== 0) return order
    }
    return 0
  })
}
