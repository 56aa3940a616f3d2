import { parseExact } from '@opsplane/contracts'
import type { ValueCase } from './case.js'
import { findItemType, findType } from './columns.js'

export type Row = Record<string, unknown>
export type PlacedCase = ValueCase & { tag: string }

/**
 * Builds rows from cases: stored cases share rows, one case per column, and each rejected case has its own row.
 * Tags begin with `prefix`.
 */
export function buildRows(
  prefix: string,
  cases: readonly ValueCase[],
): { rows: Row[]; placed: PlacedCase[] } {
  const rows = new Map<string, Row>()
  const placedCases = cases.map((each) => {
    const { column, sent, back } = each
    const shared = back !== null && [...rows].find(([, row]) => row.isKept && !(column in row))
    const tag = shared ? shared[0] : `${prefix} ${rows.size}`
    rows.set(tag, { isKept: back !== null, ...rows.get(tag), tag, [column]: parseExact(sent) })
    return { ...each, tag }
  })
  return { rows: [...rows.values()].map(({ isKept: _, ...row }) => row), placed: placedCases }
}

/** An INSERT of a row whose parameters are declared with the types of its columns. */
export function buildInsert(row: Row) {
  const names = Object.keys(row)
  const types = Object.fromEntries(names.map((name) => [name, parameterType(name)]))
  return { sql: `insert into "values" (${names}) values (${names.map((name) => `:${name}`)})`, names, types }
}

function parameterType(name: string): string {
  const items = findItemType(name) === 'enum' ? 'text' : findItemType(name)
  return findType(name) === 'array' ? `${items}[]` : items
}
