import { CommentVisibility, MomentOrDay } from '@opsplane/contracts'
import { matchesText } from '@opsplane/postgres'
import { eq, lte, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { createdWithin } from '../../lists/created-filters.js'
import { reference, searchFilter, searchSyntax } from '../../lists/filters.js'
import { incidentComments as table } from '../../schema/incident.js'

/** Filters of an incident's comments. All given filters must match. */
export const commentFilters = z.object({
  visibility: CommentVisibility.optional().meta({
    description: 'Visibility of the comments: public comments, or work notes.',
  }),
  authorId: reference.optional().meta({ description: 'Author of the comment.' }),
  q: searchFilter.meta({ description: `Words to find in the comment. ${searchSyntax}` }),
  createdAfter: MomentOrDay.optional().meta({
    description: 'Comments written later than this instant or date.',
  }),
  createdBefore: MomentOrDay.optional().meta({
    description: 'Comments written earlier than this instant or date.',
  }),
  asOf: MomentOrDay.optional().meta({
    description:
      'Returns the comments that existed at this instant; comments never change. The incident must have existed at ' +
      'that instant.',
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
