import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { CiStatus, Criticality } from './cmdb.js'
import { CiRelation } from './cmdb-relations.js'
import { SlaTimer } from './sla.js'

/** An item as a node of a graph. */
const GraphItem = z.object({
  id: idSchema('ci'),
  name: z.string(),
  class: z.string(),
  status: CiStatus,
  criticality: Criticality,
})

export const CiTopology = z
  .object({
    nodes: z.array(
      GraphItem.extend({
        depth: z
          .int()
          .min(0)
          .nullable()
          .meta({ description: 'Number of hops from `around`. `null` without `around`.' }),
      }),
    ),
    edges: z.array(CiRelation.pick({ id: true, sourceId: true, targetId: true, type: true })),
    truncated: z.boolean().meta({ description: 'Whether there are more items than the limit allows.' }),
    depth: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'Greatest depth of a node. `null` without `around`.' }),
  })
  .meta({ id: 'CiTopology' })
export type CiTopology = z.infer<typeof CiTopology>

const ImpactedItem = GraphItem.extend({
  hops: z.int().positive().meta({ description: 'Length of the shortest path.' }),
  path: z
    .object({ items: z.array(z.string()).min(2), relations: z.array(z.string()).min(1) })
    .meta({ description: 'Shortest path from a failing item to this item.' }),
})

/** The fields of an SLA timer that is at risk with an item. */
const SlaAtRisk = SlaTimer.pick({
  ...{ entityType: true, entityId: true, entityNumber: true, policyName: true },
  ...{ metric: true, dueAt: true, breached: true },
}).extend({
  timerId: SlaTimer.shape.id,
  state: z.enum(['running', 'paused']),
  ciId: idSchema('ci').meta({
    description: 'The nearest of the configuration items that the record concerns.',
  }),
})

export const CiImpact = z
  .object({
    failing: z.array(idSchema('ci')),
    affected: z.array(ImpactedItem).meta({ description: 'Affected items, nearest first.' }),
    services: z
      .array(GraphItem.extend({ hops: z.int().positive() }))
      .meta({ description: 'The affected items of class `service`.' }),
    truncated: z
      .boolean()
      .meta({ description: 'Whether the traversal ended at a limit. If so, more items may be affected.' }),
    slasAtRisk: z
      .array(SlaAtRisk)
      .optional()
      .meta({
        description:
          'Running and paused SLA timers of open incidents, changes and problems that concern a failing or affected ' +
          'item, including breached timers. Ordered by due time, paused timers last; at most 100. Only with the ' +
          'permission `itsm:read`, and not with `asOf`.',
      }),
    slasTruncated: z.boolean().optional().meta({ description: 'Whether more timers are at risk.' }),
  })
  .meta({ id: 'CiImpact' })
export type CiImpact = z.infer<typeof CiImpact>

export const ImpactQuestion = z
  .strictObject({
    itemIds: z
      .array(idSchema('ci'))
      .min(1)
      .max(100)
      .overwrite((ids) => [...new Set(ids)])
      .meta({ description: 'Items that fail at the same time.' }),
  })
  .meta({ id: 'ImpactQuestion', example: { itemIds: ['ci_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'] } })
