import { CiStatus, Criticality, RelationType } from '@opsplane/contracts'
import { z } from 'zod'
import { reference, searchFilter, searchSyntax, severalOf } from '../lists/filters.js'
import { nobody } from '../lists/nobody.js'

/** The filters of the item list; all that are given must hold. */
export const itemFilters = z.object({
  class: severalOf(z.string().min(1).max(60))
    .optional()
    .meta({ description: 'One or several classes, repeated or separated by commas.', example: ['server'] }),
  status: severalOf(CiStatus)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['operational'],
    }),
  criticality: severalOf(Criticality)
    .optional()
    .meta({ description: 'One or several, repeated or separated by commas.', example: ['critical'] }),
  owner: reference.optional().meta({ description: `A user, or \`${nobody}\` for items without an owner.` }),
  supportGroup: reference
    .optional()
    .meta({ description: `A team, or \`${nobody}\` for items nobody supports.` }),
  source: reference.optional().meta({ description: 'System the items were read from.' }),
  q: searchFilter.meta({
    description: `Words in name, native key, class or description, or text within the name. ${searchSyntax}`,
  }),
})

export const relationTypeFilter = severalOf(RelationType)
  .optional()
  .meta({
    description: 'One or several types, repeated or separated by commas.',
    example: ['depends_on'],
  })
