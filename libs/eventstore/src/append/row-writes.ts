import type { StatementRunner } from '@opsplane/postgres'
import {
  type ArrayParameters,
  arrays,
  type Column,
  insertInto,
  type Numbered,
  parameterCounter,
  text,
  unnestRows,
} from './columns.js'
import type { RowWrite } from './commit.js'

/** The read-model tables that are written to and deleted from. */
export interface RowShape {
  /** Identifies the shape. */
  key: string
  upserts: string[]
  deletes: string[]
}

export function computeRowShape(rows: readonly RowWrite[]): RowShape {
  const upserts = new Set<string>()
  const deletes = new Set<string>()
  for (const row of rows) (row.state === null ? deletes : upserts).add(row.table)
  const shape = { upserts: [...upserts].sort(), deletes: [...deletes].sort() }
  return { key: `+${shape.upserts.join()}-${shape.deletes.join()}`, ...shape }
}

export const upsertColumns: readonly Column<RowWrite>[] = [
  text('id', (row) => row.id),
  text('workspace_id', (row) => row.workspaceId),
  text('environment', (row) => row.environment),
  text('version', (row) => row.version, 'int'),
  text('state', (row) => row.state, 'json'),
]

export const deleteColumns = upsertColumns.slice(0, 3)

export function rowParameters(shape: RowShape, rows: readonly Numbered<RowWrite>[]): ArrayParameters {
  const written = (table: string) => rows.filter(({ row }) => row.table === table && row.state !== null)
  const deleted = (table: string) => rows.filter(({ row }) => row.table === table && row.state === null)
  return [
    ...shape.upserts.flatMap((table) => arrays(upsertColumns, written(table))),
    ...shape.deletes.flatMap((table) => arrays(deleteColumns, deleted(table))),
  ]
}

/** Inserts rows into a table that contains none of them. */
export async function insertRows(
  sql: StatementRunner,
  table: string,
  rows: readonly RowWrite[],
): Promise<void> {
  const statement = insertInto(table, upsertColumns, unnestRows(upsertColumns, parameterCounter()))
  const numbered = rows.map((row) => ({ n: 0, row }))
  await sql.unsafe(statement, arrays(upsertColumns, numbered), { prepare: true })
}
