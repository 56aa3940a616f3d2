import type { TableState } from '@opsplane/contracts'
import { quoteIdentifier, type StatementRunner } from '@opsplane/postgres'
import { relation, type TableName } from './column-sql.js'
import { buildParts, unnamedConstraints } from './table-sql.js'

/**
 * Statements that rename the constraints used by `statements` to the names implied by the definition. Migrations use
 * other names, or create no constraint if the column's type does not need one.
 */
export async function renameToExpected(
  tx: StatementRunner,
  place: TableName,
  state: TableState,
  statements: readonly string[],
): Promise<string[]> {
  const spokenOf = unnamedConstraints(place, state.columns).filter(({ name }) =>
    statements.some((statement) => statement.includes(`constraint ${quoteIdentifier(name)}`)),
  )
  if (spokenOf.length === 0) return []
  const found = await tx.unsafe<{ name: string; type: string; column: string }[]>(
    `select k.conname as name, k.contype::text as type, a.attname as column
     from captured_tables t join pg_constraint k on k.conrelid = t.relation
     join pg_attribute a on a.attrelid = t.relation and k.conkey = array[a.attnum] where t.table_id = $1`,
    [state.id],
  )
  const known = buildParts(place, state).constraints
  return spokenOf.flatMap(({ name, column, definition }) => {
    if (found.some((each) => each.name === name)) return []
    // A column may have several checks, which are distinguished by the suffix of the name.
    const nameSuffix = definition.startsWith('check') ? name.slice(name.lastIndexOf('_')) : ''
    const other = found.find(
      (each) =>
        each.column === column &&
        each.type === definition[0] &&
        each.name.endsWith(nameSuffix) &&
        !known.has(each.name),
    )
    const change = other
      ? `rename constraint ${quoteIdentifier(other.name)} to ${quoteIdentifier(name)}`
      : `add constraint ${quoteIdentifier(name)} ${definition}`
    return [`alter table ${relation(place)} ${change}`]
  })
}
