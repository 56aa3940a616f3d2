import type { QueryResult } from '@opsplane/contracts'
import type { ISql } from 'postgres'
import type { TypeNames } from './type-names.js'
import { type Json, readerOf, typeName } from './values.js'

export interface CollectOptions {
  text: string
  /** As Postgres reads them. */
  values: readonly (string | null)[]
  maxRows: number
  /** Of the values as text. */
  maxBytes: number
  /** All at once: of what is no query of rows, such as EXPLAIN, postgres.js has no cursor. */
  whole: boolean
  /** Reads on to the end beyond a cap, as a statement that changes rows has to; otherwise the rest is left alone. */
  drain?: boolean
}

export interface Collected {
  /** Rows that were changed or, where it was read to the end, selected. */
  affected: number
  result(namesOf: TypeNames): Promise<Omit<QueryResult, 'durationMs'>>
}

interface Column {
  name: string
  type: number
}

/** Rows that come at once: what comes beyond a cap is fetched in vain. */
const page = 50
/** The type of what has none yet: Postgres tells it by where a parameter stands. */
const unknownType = 705

/** Reads what a statement answers by a cursor, which takes one statement only, up to the caps. */
export async function collectRows(
  tx: Pick<ISql, 'unsafe' | 'typed'>,
  options: CollectOptions,
): Promise<Collected> {
  const { text, values, maxRows, maxBytes, whole, drain = false } = options
  const parameters = values.map((value) => tx.typed(value as string, unknownType))
  // Not the simple protocol, which takes several statements.
  const pending = tx.unsafe(text, parameters as unknown as string[], { simple: false } as object).raw()
  const rows: (Buffer | null)[][] = []
  let bytes = 0
  let changed = 0
  let truncated: QueryResult['truncated'] = null
  const batches = whole ? [(await pending) as Batch] : (pending.cursor(page) as AsyncIterable<Batch>)
  for await (const batch of batches) {
    changed = batch.count ?? 0
    for (const row of truncated ? [] : batch) {
      bytes += row.reduce((sum, value) => sum + (value?.length ?? 0), 0)
      truncated = rows.length >= maxRows ? 'rows' : bytes > maxBytes ? 'bytes' : null
      if (truncated) break
      rows.push(row)
    }
    if (truncated && !drain) break
  }
  // Known even where no row comes, and then said here alone.
  const columns = (pending as Described).statement?.columns ?? []
  return { affected: changed, result: (namesOf) => present({ columns, rows, changed, truncated }, namesOf) }
}

/** What postgres.js has beside the rows, and its types leave out. */
interface Batch extends Array<(Buffer | null)[]> {
  count: number | null
}
interface Described {
  statement?: { columns?: readonly Column[] | null }
}

interface Found extends Pick<QueryResult, 'truncated'> {
  columns: readonly Column[]
  rows: readonly (Buffer | null)[][]
  changed: number
}

async function present({ columns, rows, changed, truncated }: Found, namesOf: TypeNames) {
  const types = await namesOf(columns.map(({ type }) => type))
  const names = distinct(columns.map(({ name }) => name))
  const readers = types.map(readerOf)
  return {
    columns: names.map((name, index) => ({ name, type: typeName(types[index] ?? '') })),
    rows: rows.map((row) =>
      Object.fromEntries(
        row.map((value, index): [string, Json] => [
          names[index] ?? '',
          value === null ? null : (readers[index]?.(value.toString()) ?? null),
        ]),
      ),
    ),
    rowCount: columns.length > 0 ? rows.length : changed,
    truncated,
  }
}

/** A name that comes again gets a number. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`
    taken.add(free)
    return free
  })
}
