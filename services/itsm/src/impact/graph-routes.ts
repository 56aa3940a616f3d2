import { AsOfQuery, CiImpact, CiTopology, ImpactQuestion, type Instant } from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { walkImpact } from '../cmdb/impact/impact.js'
import { impactGraph } from '../cmdb/impact/impact-graph.js'
import { pastGraph } from '../cmdb/impact/past-graph.js'
import { topologyAround, topologyAroundIn, wholeTopology, wholeTopologyIn } from '../cmdb/impact/topology.js'
import { tag } from '../cmdb/item/item-routes.js'
import type { ItemStore } from '../cmdb/item/item-store.js'
import { relationTypeFilter } from '../cmdb/list-filters.js'
import { noSuchItem } from '../cmdb/relation/relation-store.js'
import { resolveInstant } from '../sla/policy/explain-routes.js'
import { findSlasAtRisk } from './slas-at-risk.js'

const limits = { maxItems: 10_000, maxHops: 100 }

const impactText =
  'Walks relations in the direction of their impact and honours redundancy: an item survives while enough of its ' +
  'dependencies of a type are operational. Planned and retired items neither fail nor count. Every affected item ' +
  'has a shortest path from the failing item. At most 10,000 items and 100 hops. `slasAtRisk` lists the SLA clocks of open ' +
  'records about any of the affected items.'

const asOfText =
  'Returns the graph at this instant, with the items and relations that existed then, including those deleted since. An ' +
  'instant in the future means now. 422 `graph_too_large` above 20,000 items or 50,000 relations at that instant, or above ' +
  'twice as many including those deleted by then.'

const topologyQuery = z.object({
  asOf: AsOfQuery.shape.asOf.meta({ description: asOfText, example: '2026-03-02T10:00:00.000Z' }),
  around: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Returns only items that can be reached from this item.' }),
  depth: z.coerce
    .number()
    .int()
    .min(1)
    .max(10)
    .default(3)
    .meta({ description: 'Maximum number of hops from `around`.' }),
  direction: z
    .enum(['upstream', 'downstream', 'both'])
    .default('both')
    .meta({
      description:
        'Direction from `around`: `upstream` to its dependencies, `downstream` to its dependents, both only along ' +
        'relations with impact; `both` follows every relation in either direction.',
    }),
  types: relationTypeFilter,
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(1_000)
    .meta({ description: 'Maximum number of nodes.' }),
})

const impactQuery = z.object({
  asOf: AsOfQuery.shape.asOf.meta({
    description: `${asOfText} For an instant in the past, the response omits \`slasAtRisk\`.`,
    example: '2026-03-02T10:00:00.000Z',
  }),
})

/** Routes of the graph of items and relations, and of the impact of failures. */
export function graphRoutes({ database }: ServiceContext, items: ItemStore): Route[] {
  const { sql } = database
  const failureOf = async (
    itemIds: string[],
    { tenant, principal }: RequestMeta,
    past: Instant | undefined,
  ): Promise<CiImpact> => {
    const graph =
      past === undefined ? impactGraph(sql, tenant) : await pastGraph(database, tenant, past).impactGraph()
    const impact = await walkImpact(graph, itemIds, limits)
    if (past !== undefined || !principal.permissions.includes('itsm:read')) return impact
    const down = [...impact.failing, ...impact.affected.map(({ id }) => id)]
    return { ...impact, ...(await findSlasAtRisk(sql, tenant, down)) }
  }

  return [
    defineRoute({
      operationId: 'getTopology',
      method: 'get',
      path: '/cmdb/topology',
      summary: 'Get the dependency graph',
      description:
        'Returns the items and the relations between them: the whole graph, or the surroundings of one item. Edges ' +
        'are all relations of the requested types between two of the nodes, at most ten for each node of the limit.',
      tag,
      scope: 'cmdb:read',
      query: topologyQuery,
      response: CiTopology,
      errors: ['not_found'],
      handler: async ({ query: { asOf, around, ...shown }, meta: { tenant, now } }) => {
        const { past } = resolveInstant(asOf, now)
        const itemId = around && (await items.asOf(around, tenant, past)).id
        const options = { ...shown, tenant }
        if (past === undefined)
          return itemId === undefined
            ? wholeTopology(sql, options)
            : topologyAround(sql, { ...options, itemId })
        const graph = await pastGraph(database, tenant, past).graph(shown.types)
        return itemId === undefined
          ? wholeTopologyIn(graph, options)
          : topologyAroundIn(graph, { ...options, itemId })
      },
    }),

    defineRoute({
      operationId: 'getImpactOfConfigurationItem',
      method: 'get',
      path: '/cmdb/items/:id/impact',
      summary: 'Get the impact if a configuration item fails',
      description: impactText,
      tag,
      scope: 'cmdb:read',
      query: impactQuery,
      response: CiImpact,
      handler: async ({ params, query: { asOf }, meta }) => {
        const { past } = resolveInstant(asOf, meta.now)
        const { id } = await items.asOf(params.id, meta.tenant, past)
        return failureOf([id], meta, past)
      },
    }),

    defineRoute({
      operationId: 'getImpact',
      method: 'post',
      path: '/cmdb/impact',
      summary: 'Get the impact if several configuration items fail at once',
      description: impactText,
      tag,
      scope: 'cmdb:read',
      query: impactQuery,
      body: ImpactQuestion,
      response: CiImpact,
      idempotency: 'none',
      handler: async ({ query: { asOf }, body: { itemIds }, meta }) => {
        const { past } = resolveInstant(asOf, meta.now)
        const found = await Promise.all(itemIds.map((id) => items.find(id, meta.tenant, past)))
        const absent = found.indexOf(null)
        if (absent !== -1) throw noSuchItem(`/itemIds/${absent}`)
        return failureOf(itemIds, meta, past)
      },
    }),
  ]
}
