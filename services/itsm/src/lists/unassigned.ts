import { eq, isNull, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** Asks a list for records that lie with nobody: no assignee, no team, no owner. */
export const unassigned = 'none'

export function equalsOrUnassigned(column: PgColumn, value: string | undefined): SQL | undefined {
  if (value === undefined) return undefined
  return value === unassigned ? isNull(column) : eq(column, value)
}
