import { eq, isNull, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** Asks a list for records that lie with nobody: no assignee, no team, no owner. */
export const nobody = 'none'

export function isOrNobody(column: PgColumn, value: string | undefined): SQL | undefined {
  if (value === undefined) return undefined
  return value === nobody ? isNull(column) : eq(column, value)
}
