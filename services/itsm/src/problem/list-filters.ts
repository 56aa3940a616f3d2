import { Priority, ProblemStatus } from '@opsplane/contracts'
import { z } from 'zod'
import { createdFilters } from '../lists/created-filters.js'
import { listParameter, reference, searchFilter, searchSyntax } from '../lists/filters.js'
import { unassignedFilter } from '../lists/unassigned.js'

/** Filters of the problem list. All given filters must match. */
export const problemFilters = z.object({
  status: listParameter(ProblemStatus)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['assess', 'root_cause_analysis'],
    }),
  priority: listParameter(Priority)
    .optional()
    .meta({
      description: 'One or several priorities, repeated or separated by commas.',
      example: ['P1', 'P2'],
    }),
  knownError: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: '`true`: only known errors.' }),
  assigneeId: reference
    .optional()
    .meta({ description: `A user, or \`${unassignedFilter}\` for unassigned problems.` }),
  assignmentGroup: reference
    .optional()
    .meta({ description: `A team, or \`${unassignedFilter}\` for problems without a team.` }),
  ciId: reference.optional().meta({ description: 'One of the affected configuration items.' }),
  tag: z.string().min(1).max(50).optional().meta({ description: 'Tag of the problem.' }),
  q: searchFilter.meta({
    description: `Words to find in the number, title, tags, category or description. ${searchSyntax}`,
  }),
  ...createdFilters,
})
