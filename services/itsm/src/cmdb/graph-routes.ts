import { CiImpact, CiTopology, ImpactQuestion } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { z } from 'zod'
import { walkImpact } from './impact.js'
import { impactGraph } from './impact-graph.js'
import { tag } from './item-routes.js'
import type { ItemStore } from './item-store.js'
import { relationTypeFilter } from './list-filters.js'
import { noSuchItem } from './relation-store.js'
import { slasAtRisk } from './slas-at-risk.js'
import { topologyAround, wholeTopology } from './topology.js'

const limits = { maxItems: 10_000, maxHops: 100 }

const impactText =
  'Walks relations in the direction of their impact and honours redundancy: an item survives while enough of its ' +
  'dependencies of a type are operational. Planned and retired items neither break nor count. Every affected item ' +
  'has a shortest path from what fails. At most 10,000 items and 100 hops. `slasAtRisk` are the SLA clocks over what is ' +
  'open about any of them.'

const topologyQuery = z.object({
  around: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Only what can be reached from this item.' }),
  depth: z.coerce.number().int().min(1).max(10).default(3).meta({ description: 'Most hops from `around`.' }),
  direction: z
    .enum(['upstream', 'downstream', 'both'])
    .default('both')
    .meta({
      description:
        'From `around`: `upstream` to what it depends on, `downstream` to what depends on it, both over relations ' +
        'with impact alone; `both` follows every relation either way.',
    }),
  types: relationTypeFilter,
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000).meta({ description: 'Most nodes.' }),
})

/** The graph of items and relations, and what a failure does in it. */
export function graphRoutes({ database: { sql } }: BackendContext, items: ItemStore): Route[] {
  const failureOf = async (itemIds: string[], { tenant, principal }: RequestMeta): Promise<CiImpact> => {
    const impact = await walkImpact(impactGraph(sql, tenant), itemIds, limits)
    if (!principal.permissions.includes('itsm:read')) return impact
    const down = [...impact.failing, ...impact.affected.map(({ id }) => id)]
    return { ...impact, ...(await slasAtRisk(sql, tenant, down)) }
  }

  return [
    defineRoute({
      operationId: 'getTopology',
      method: 'get',
      path: '/cmdb/topology',
      summary: 'Dependency graph',
      description:
        'The items and the relations between them: all, or what lies around one item. Edges are all relations of ' +
        'the wanted types between two of the nodes, at most ten for each node of the limit.',
      tag,
      scope: 'cmdb:read',
      query: topologyQuery,
      response: CiTopology,
      errors: ['not_found'],
      handler: async ({ query: { around, depth, direction, types, limit }, meta: { tenant } }) => {
        if (around === undefined) return wholeTopology(sql, { tenant, types, limit })
        const { id } = await items.get(around, tenant)
        return topologyAround(sql, { tenant, types, limit, itemId: id, depth, direction })
      },
    }),

    defineRoute({
      operationId: 'getImpactOfConfigurationItem',
      method: 'get',
      path: '/cmdb/items/:id/impact',
      summary: 'What breaks if this item fails',
      description: impactText,
      tag,
      scope: 'cmdb:read',
      response: CiImpact,
      errors: ['not_found'],
      handler: async ({ params, meta }) => {
        const { id } = await items.get(params.id, meta.tenant)
        return failureOf([id], meta)
      },
    }),

    defineRoute({
      operationId: 'getImpact',
      method: 'post',
      path: '/cmdb/impact',
      summary: 'What breaks if these items fail at once',
      description: impactText,
      tag,
      scope: 'cmdb:read',
      body: ImpactQuestion,
      response: CiImpact,
      idempotency: 'none',
      handler: async ({ body: { itemIds }, meta }) => {
        const found = await Promise.all(itemIds.map((id) => items.find(id, meta.tenant)))
        const absent = found.indexOf(null)
        if (absent !== -1) throw noSuchItem(`/itemIds/${absent}`)
        return failureOf(itemIds, meta)
      },
    }),
  ]
}
