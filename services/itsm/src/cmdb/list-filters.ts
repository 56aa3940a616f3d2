import { AsOfQuery, CiStatus, Criticality, RelationType } from '@opsplane/contracts'
import { z } from 'zod'
import { createdFilters } from '../lists/created-filters.js'
import { listParameter, reference, searchFilter, searchSyntax } from '../lists/filters.js'
import { unassignedFilter } from '../lists/unassigned.js'

/** Filters of the item list. All given filters must match. */
export const itemFilters = z.object({
  class: listParameter(z.string().min(1).max(60))
    .optional()
    .meta({ description: 'One or several classes, repeated or separated by commas.', example: ['server'] }),
  status: listParameter(CiStatus)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['operational'],
    }),
  criticality: listParameter(Criticality)
    .optional()
    .meta({ description: 'One or several, repeated or separated by commas.', example: ['critical'] }),
  owner: reference
    .optional()
    .meta({ description: `A user, or \`${unassignedFilter}\` for items without an owner.` }),
  supportGroup: reference
    .optional()
    .meta({ description: `A team, or \`${unassignedFilter}\` for items without a support group.` }),
  source: reference.optional().meta({ description: 'System the items were read from.' }),
  nativeKey: z.string().trim().min(1).max(500).optional().meta({
    description: 'The key of an item there; with `source` it finds the one item.',
    example: 'i-0a1b2c',
  }),
  q: searchFilter.meta({
    description: `Words in name, native key, class or description, or text within the name. ${searchSyntax}`,
  }),
  ...createdFilters,
})

export const relationTypeFilter = listParameter(RelationType)
  .optional()
  .meta({
    description: 'One or several types, repeated or separated by commas.',
    example: ['depends_on'],
  })

/** Filters of the relation list. All given filters must match. */
export const relationFilters = z.object({
  itemId: reference.optional().meta({ description: 'At either end.' }),
  sourceId: reference.optional().meta({ description: 'The item it goes from.' }),
  targetId: reference.optional().meta({ description: 'The item it goes to.' }),
  type: relationTypeFilter,
  q: searchFilter.meta({
    description: `What the list of items finds one of its ends by: words in name, native key, class or description, or text within the name. ${searchSyntax}`,
  }),
  ...createdFilters,
})

/** Filters of the list of one item's relations. */
export const itemRelationFilters = relationFilters.omit({ itemId: true }).extend({
  direction: z
    .enum(['outgoing', 'incoming'])
    .optional()
    .meta({ description: '`outgoing`: from the item; `incoming`: to it. Both unless given.' }),
  q: relationFilters.shape.q.meta({
    description: `What the list of items finds the other end by: words in name, native key, class or description, or text within the name. ${searchSyntax}`,
  }),
})

/** Filters of the class list. All given filters must match. */
export const classFilters = z.object({
  q: searchFilter.meta({ description: `Words in name or label. ${searchSyntax}` }),
  builtIn: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: '`true`: the built-in classes only; `false`: those of the workspace only.' }),
  asOf: AsOfQuery.shape.asOf.meta({
    description:
      'Answer with the classes there were at this instant, as they were, and the filters applied to that.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})
