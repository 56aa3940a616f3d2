import { ChangeTemplateState } from '@opsplane/contracts'
import { matchesText, type Selection } from '@opsplane/postgres'
import { z } from 'zod'
import { createdFilters, createdWithin } from '../../lists/created-filters.js'
import { listParameter, searchFilter, searchSyntax } from '../../lists/filters.js'
import { changeTemplates } from '../../schema/change.js'

/** Filters of the change template list. All given filters must match. */
export const templateFilters = z.object({
  status: listParameter(ChangeTemplateState.shape.status)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['active'],
    }),
  q: searchFilter.meta({ description: `Words to find in the name, title or description. ${searchSyntax}` }),
  ...createdFilters,
})
export type TemplateFilters = z.output<typeof templateFilters>

export function templateSelection({ status, q, ...filters }: TemplateFilters): Selection {
  return {
    where: [...createdWithin(changeTemplates.createdAt, filters)],
    anyOf: [status && { column: changeTemplates.status, values: status }],
    search: q === undefined ? undefined : matchesText(changeTemplates.search, q),
  }
}
