import type { TenantScope } from '@opsplane/contracts'
import type { Drizzle, KeysetTable } from '@opsplane/postgres'
import { and, eq } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

interface NumberedTable extends KeysetTable {
  numberValue: PgColumn
}

/**
 * The id a path means: it takes an id or a number such as `INC-12`. Anything else is an id that does not exist, and so
 * is the number of nothing in the workspace and environment.
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
