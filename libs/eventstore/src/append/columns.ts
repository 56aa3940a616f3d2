import { jsonArray } from '@opsplane/postgres'

/** A column of rows that are sent to Postgres as one array per column, all values as text. */
export interface Column<Row> {
  name: string
  /** The Postgres type the text is cast to. */
  type: string
  value: (row: Row) => string | number | null
}

/** A row with the number of the commit it belongs to. */
export interface Numbered<Row> {
  n: number
  row: Row
}

export const text = <Row>(name: string, value: Column<Row>['value'], type = 'text'): Column<Row> => ({
  name,
  type,
  value,
})

/** Arrays the client serializes for Postgres, or array literals that are already serialized. */
export type ArrayParameters = (string[] | string)[]

export function arrays<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Numbered<Row>[],
): ArrayParameters {
  return [
    rows.map(({ n }) => String(n)),
    ...columns.map(({ type, value }) => {
      // `null` stays null inside an array parameter; the element type only satisfies the client's typings.
      const values = rows.map(({ row }) => value(row) as string)
      return type === 'json' ? jsonArray(values) : values
    }),
  ]
}

/** SQL for the rows as `t`, with their commit numbers as `n`; all columns are text. */
export function unnestRows<Row>(columns: readonly Column<Row>[], next: () => number): string {
  const names = ['n', ...columns.map(({ name }) => name)]
  return `unnest(${names.map(() => `$${next()}::text[]`).join(', ')}) as t (${names.join(', ')})`
}

/** SQL that inserts the rows of `source` (aliased `t`) into `table` (aliased `r`). `table` is already quoted SQL. */
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
 * At most one row for each preceding row. The lateral form makes Postgres use an index even if the table was small
 * when the statement was planned. `query` refers to the preceding row.
 */
export const lateralOne = (query: string, locking = ''): string => `lateral (${query} limit 1 ${locking})`
