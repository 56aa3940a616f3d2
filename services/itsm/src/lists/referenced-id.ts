import type { TenantScope } from '@opsplane/contracts'
import type { Drizzle, KeysetTable } from '@opsplane/postgres'
import { and, eq } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

interface NumberedTable extends KeysetTable {
  numberValue: PgColumn
}

/**
 * Returns the id for an id or a number such as `INC-12` in a path. Anything else, and a number that does not exist in
 * the workspace and environment, is treated as an id that does not exist.
 */
export async function findReferencedId(
  db: Drizzle,
  { table, prefix }: { table: NumberedTable; prefix: string },
  reference: string,
  { workspaceId, environment }: TenantScope,
): Promise<string> {
  const [kind, digits = ''] = reference.split('-')
  if (kind !== prefix || reference !== `${prefix}-${digits}` || !/^[1-9]\d{0,8}$/.test(digits))
    return reference
  const [row] = await db
    .select({ id: table.id })
    .from(table)
    .where(
      and(
        eq(table.workspaceId, workspaceId),
        eq(table.environment, environment),
        eq(table.numberValue, Number(digits)),
      ),
    )
  return row === undefined ? reference : String(row.id)
}
