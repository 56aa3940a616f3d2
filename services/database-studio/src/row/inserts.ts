import type { StatementRunner } from '@opsplane/postgres'
import type { Values } from './input.js'
import { runStatement } from './record-access.js'
import type { ResolvedTable, Row } from './resolved-table.js'
import { type Insert, insertStatement, type WriteTarget } from './write-statements.js'

/** One insert: records that set the same columns. */
export interface InsertGroup {
  columns: string[]
  rows: Values[]
}

export const toWriteTarget = ({ space, table, writeRule }: ResolvedTable): WriteTarget => ({
  schema: space.schema,
  table,
  rule: writeRule,
})

/**
 * Groups records into inserts. Records of a group omit the same columns with defaults; omitted columns without a
 * default are null. With `on`, all records of a group set exactly the same columns, since an update must leave omitted
 * columns unchanged.
 */
export function groupInserts(
  { table }: Pick<ResolvedTable, 'table'>,
  rows: readonly Values[],
  on?: readonly string[],
): InsertGroup[] {
  const groupingColumns = table.columns
    .filter((column) => on || column.default !== null)
    .map(({ name }) => name)
  const groups = new Map<string, { columns: Set<string>; rows: Values[] }>()
  for (const row of rows) {
    const key = groupingColumns.map((name) => (Object.hasOwn(row, name) ? 1 : 0)).join('')
    const group = groups.get(key) ?? { columns: new Set<string>(), rows: [] }
    for (const name in row) if (name !== 'id') group.columns.add(name)
    group.rows.push(row)
    groups.set(key, group)
  }
  return [...groups.values()].map((group) => ({ ...group, columns: [...group.columns] }))
}

export async function insertGroups(
  tx: StatementRunner,
  target: WriteTarget,
  groups: readonly InsertGroup[],
  options: Pick<Insert, 'on' | 'answer'> = {},
): Promise<Row[]> {
  const written: Row[] = []
  for (const group of groups)
    written.push(...(await runStatement(tx, insertStatement(target, { ...group, ...options }))))
  return written
}
