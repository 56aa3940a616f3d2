import { eq, isNull, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** Filter value for records without an assignee, a team or an owner. */
export const unassignedFilter = 'none'

export function equalsOrUnassigned(column: PgColumn, value: string | undefined): SQL | undefined {
  if (value === undefined) return undefined
  return value === unassignedFilter ? isNull(column) : eq(column, value)
}
