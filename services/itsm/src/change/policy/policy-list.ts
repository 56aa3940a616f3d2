import { ChangePolicyState } from '@opsplane/contracts'
import { matchesText, type Selection } from '@opsplane/postgres'
import { z } from 'zod'
import { createdFilters, createdWithin } from '../../lists/created-filters.js'
import { listParameter, searchFilter, searchSyntax } from '../../lists/filters.js'
import { changePolicies } from '../../schema/change.js'

/** Filters of the change policy list. All given filters must match. */
export const policyFilters = z.object({
  status: listParameter(ChangePolicyState.shape.status)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['active'],
    }),
  q: searchFilter.meta({ description: `Words to find in the name. ${searchSyntax}` }),
  ...createdFilters,
})
export type PolicyFilters = z.output<typeof policyFilters>

export function policySelection({ status, q, ...filters }: PolicyFilters): Selection {
  return {
    where: [...createdWithin(changePolicies.createdAt, filters)],
    anyOf: [status && { column: changePolicies.status, values: status }],
    search: q === undefined ? undefined : matchesText(changePolicies.search, q),
  }
}
