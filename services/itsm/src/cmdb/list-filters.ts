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
    .meta({
      description: 'One or several criticalities, repeated or separated by commas.',
      example: ['critical'],
    }),
  owner: reference
    .optional()
    .meta({ description: `A user, or \`${unassignedFilter}\` for items without an owner.` }),
  supportGroup: reference
    .optional()
    .meta({ description: `A team, or \`${unassignedFilter}\` for items without a support group.` }),
  source: reference.optional().meta({ description: 'System that the items were imported from.' }),
  nativeKey: z.string().trim().min(1).max(500).optional().meta({
    description: 'Key of the item in its source system; together with `source` it identifies one item.',
    example: 'i-0a1b2c',
  }),
  q: searchFilter.meta({
    description: `Words to find in the name, native key, class or description, or a part of the name. ${searchSyntax}`,
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
  itemId: reference
    .optional()
    .meta({ description: 'Configuration item that is the source or the target of the relation.' }),
  sourceId: reference.optional().meta({ description: 'Source item of the relation.' }),
  targetId: reference.optional().meta({ description: 'Target item of the relation.' }),
  type: relationTypeFilter,
  q: searchFilter.meta({
    description:
      'Words to find in the name, native key, class or description of the source or target item, or a part of its ' +
      `name. ${searchSyntax}`,
  }),
  ...createdFilters,
})

/** Filters of the list of one item's relations. */
export const itemRelationFilters = relationFilters.omit({ itemId: true }).extend({
  direction: z.enum(['outgoing', 'incoming']).optional().meta({
    description: '`outgoing`: relations from the item; `incoming`: relations to the item. Default: both.',
  }),
  q: relationFilters.shape.q.meta({
    description:
      'Words to find in the name, native key, class or description of the item at the other end, or a part of its ' +
      `name. ${searchSyntax}`,
  }),
})

/** Filters of the class list. All given filters must match. */
export const classFilters = z.object({
  q: searchFilter.meta({ description: `Words to find in the name or label. ${searchSyntax}` }),
  builtIn: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: '`true`: only the built-in classes; `false`: only the classes of the workspace.' }),
  asOf: AsOfQuery.shape.asOf.meta({
    description:
      'Returns the classes that existed at this instant, in their state at that instant. The filters apply to that ' +
      'state.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})
