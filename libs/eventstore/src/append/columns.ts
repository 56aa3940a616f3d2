import { jsonArray } from '@opsplane/postgres'

/** A column of rows that are sent to Postgres as one array per column, everything as text. */
export interface Column<Row> {
  name: string
  /** What the text is cast to. */
  type: string
  value: (row: Row) => string | number | null
}

/** A row and the number of what it belongs to. */
export interface Numbered<Row> {
  n: number
  row: Row
}

export const text = <Row>(name: string, value: Column<Row>['value'], type = 'text'): Column<Row> => ({
  name,
  type,
  value,
})

/** Arrays that the client writes for Postgres, and such as are written already. */
export type ArrayParameters = (string[] | string)[]

export function arrays<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Numbered<Row>[],
): ArrayParameters {
  return [
    rows.map(({ n }) => String(n)),
    ...columns.map(({ type, value }) => {
      // Null stays null inside an array parameter; the element type only says what the client may see.
      const values = rows.map(({ row }) => value(row) as string)
      return type === 'json' ? jsonArray(values) : values
    }),
  ]
}

/** The rows as `t`, with their numbers as `n`, all of them text. */
export function unnestRows<Row>(columns: readonly Column<Row>[], next: () => number): string {
  const names = ['n', ...columns.map(({ name }) => name)]
  return `unnest(${names.map(() => `$${next()}::text[]`).join(', ')}) as t (${names.join(', ')})`
}

/** Inserts, as `r`, what `source` has as `t`. The table is named as SQL has it. */
export function insertInto<Row>(table: string, columns: readonly Column<Row>[], source: string): string {
  const names = columns.map(({ name }) => name).join(', ')
  const values = columns.map(({ name, type }) => (type === 'text' ? `t.${name}` : `t.${name}::${type}`))
  return `insert into ${table} as r (${names}) select ${values.join(', ')} from ${source}`
}

export function parameterCounter(): () => number {
  let last = 0
  return () => ++last
}

/**
 * At most one row for each row before it, found by an index however small the table was when the statement was planned.
 * `query` speaks of the row before.
 */
export const lateralOne = (query: string, locking = ''): string => `lateral (${query} limit 1 ${locking})`
