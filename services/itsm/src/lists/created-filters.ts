import { MomentOrDay } from '@opsplane/contracts'
import { gt, lt, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** Filter fields for the creation time of listed records. */
export const createdFilters = {
  createdAfter: MomentOrDay.optional().meta({
    description: 'Records created later than this instant or date.',
  }),
  createdBefore: MomentOrDay.optional().meta({
    description: 'Records created earlier than this instant or date.',
  }),
}

export interface CreatedFilters {
  createdAfter?: string | undefined
  createdBefore?: string | undefined
}

export function createdWithin(
  createdAt: PgColumn,
  { createdAfter, createdBefore }: CreatedFilters,
): (SQL | undefined)[] {
  return [
    createdAfter === undefined ? undefined : gt(createdAt, createdAfter),
    createdBefore === undefined ? undefined : lt(createdAt, createdBefore),
  ]
}
