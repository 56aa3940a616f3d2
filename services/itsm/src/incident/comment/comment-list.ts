import { CommentVisibility, MomentOrDay } from '@opsplane/contracts'
import { matchesText } from '@opsplane/postgres'
import { eq, lte, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { createdWithin } from '../../lists/created-filters.js'
import { reference, searchFilter, searchSyntax } from '../../lists/filters.js'
import { incidentComments as table } from '../../schema/incident.js'

/** Filters of an incident's comments. All given filters must match. */
export const commentFilters = z.object({
  visibility: CommentVisibility.optional().meta({ description: 'Public comments, or work notes.' }),
  authorId: reference.optional().meta({ description: 'Who wrote it.' }),
  q: searchFilter.meta({ description: `Words in the comment. ${searchSyntax}` }),
  createdAfter: MomentOrDay.optional().meta({ description: 'Written later than this.' }),
  createdBefore: MomentOrDay.optional().meta({ description: 'Written earlier than this.' }),
  asOf: MomentOrDay.optional().meta({
    description:
      'Answer with the comments there were at this instant; they never change. The incident must have been there.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})

/** Returns all filters as plain conditions: an incident has few comments, and an index returns them in order. */
export function commentConditions(
  incidentId: string,
  filters: z.output<typeof commentFilters>,
): (SQL | undefined)[] {
  const { visibility, authorId, q, asOf } = filters
  return [
    eq(table.incidentId, incidentId),
    visibility && eq(table.visibility, visibility),
    authorId === undefined ? undefined : sql`${table.state}->'author'->>'id' = ${authorId}`,
    q === undefined ? undefined : matchesText(table.search, q),
    ...createdWithin(table.createdAt, filters),
    asOf === undefined ? undefined : lte(table.createdAt, asOf),
  ]
}
