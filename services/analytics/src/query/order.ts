import type { AnalyticsQuery, JsonValue, ResultColumn } from '@opsplane/contracts'
import type { AnswerRow } from './fact-answer.js'

const rank = (value: JsonValue | undefined) => (value === null || value === undefined ? 1 : 0)

/** What is not there comes last, whichever way is sorted. */
function compare(a: JsonValue | undefined, b: JsonValue | undefined, sign: number): number {
  if (rank(a) || rank(b)) return rank(a) - rank(b)
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
  const [left, right] = [String(a), String(b)]
  return left === right ? 0 : sign * (left < right ? -1 : 1)
}

/** By the column that is asked for, then by time and dimensions: the same rows stand in the same order. */
export function inOrder(
  rows: AnswerRow[],
  columns: readonly ResultColumn[],
  sort: AnalyticsQuery['sort'],
): AnswerRow[] {
  const asked =
    sort === undefined ? [] : [{ name: sort.replace(/^-/, ''), sign: sort.startsWith('-') ? -1 : 1 }]
  const named = columns.filter(({ role }) => role !== 'measure').map(({ name }) => ({ name, sign: 1 }))
  const by = [...asked, ...named]
  return rows.sort((a, b) => {
    for (const { name, sign } of by) {
      const order = compare(a[name], b[name], sign)
      if (order !== 0) return order
    }
    return 0
  })
}
