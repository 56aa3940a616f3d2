import { impactTypes, type RelationType, relationImpact, type TenantScope } from '@opsplane/contracts'
import { relationsFromItems, relationsToItems, rowsByIds } from '../by-ids.js'
import { type Parameter, type StatementRunner, statement } from '../columns.js'
import type { Dependency, ImpactGraph, ImpactNode, ImpactRelation } from './impact.js'
import { parseRedundancy, readImpactGraph } from './impact-graph-in-memory.js'

export type { StatementRunner }

const findImpactTypes = (direction: 'to_source' | 'to_target') =>
  impactTypes.filter((type) => relationImpact[type] === direction)
/** Relation types over which a failure of the target takes down the source. */
export const toSource = findImpactTypes('to_source')
/** Relation types over which a failure of the source takes down the target. */
export const toTarget = findImpactTypes('to_target')

interface Step {
  relationId: string
  type: RelationType
  dependency: string
  dependent: string
}

/** If a hop has more relations than this, the tenant's whole graph is read instead, unless it exceeds the limits. */
const wideHop = 1_000

/** The graph of one tenant in Postgres for one walk. Reads hop by hop until a hop is wide. */
export function impactGraph(sql: StatementRunner, tenant: TenantScope): ImpactGraph {
  const hops = hopByHop(sql, tenant)
  let whole: ImpactGraph | null | undefined
  return {
    async dependents(ids) {
      const few = whole ? null : await hops.dependents(ids, whole === null ? null : wideHop)
      if (few) return few
      if (whole === undefined) whole = await readImpactGraph(sql, tenant)
      return whole ? whole.dependents(ids) : ((await hops.dependents(ids, null)) ?? [])
    },
    dependencies: (ids, types) => (whole ?? hops).dependencies(ids, types),
  }
}

/**
 * Every statement filters by tenant and reads all items of a hop together. An item met in several hops is read
 * once.
 */
function hopByHop(sql: StatementRunner, { workspaceId, environment }: TenantScope) {
  const known = new Map<string, ImpactNode>()
  const read = <Row extends object>(text: string, ...parameters: Parameter[]) =>
    statement<Row>(sql, text, [workspaceId, environment, ...parameters])

  async function learn(ids: Iterable<string>): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !known.has(id))
    const rows = await read<Omit<ImpactNode, 'redundancy'> & { redundancy: string }>(
      `select id, name, class, status, criticality, redundancy
         from ${rowsByIds('configuration_items', 'id in (select unnest($3::text[]))')}`,
      unknown,
    )
    for (const row of rows) known.set(row.id, { ...row, redundancy: parseRedundancy(row.redundancy) })
  }

  return {
    /** Returns `null` if there are more than `maxRows` relations. */
    async dependents(ids: string[], maxRows: number | null): Promise<ImpactRelation[] | null> {
      const steps = await read<Step>(
        `select id as "relationId", type, target_id as dependency, source_id as dependent from ${relationsToItems('$4')}
         union all
         select id, type, source_id, target_id from ${relationsFromItems('$5')}
         limit $6`,
        ids,
        toSource,
        toTarget,
        maxRows === null ? null : maxRows + 1,
      )
      if (maxRows !== null && steps.length > maxRows) return null
      await learn(steps.map(({ dependent }) => dependent))
      return steps.flatMap(({ relationId, type, dependency, dependent: id }) => {
        const dependent = known.get(id)
        return dependent ? [{ relationId, type, dependency, dependent }] : []
      })
    },

    dependencies: (ids: string[], types: RelationType[]) =>
      read<Dependency>(
        `select e.dependent, e.type, i.id, i.status from (
           select source_id as dependent, type, target_id as dependency from ${relationsFromItems('$4')}
           union all
           select target_id, type, source_id from ${relationsToItems('$5')}
         ) e cross join lateral (select * from ${rowsByIds('configuration_items', 'id = e.dependency')}) i`,
        ids,
        selectTypes(toSource, types),
        selectTypes(toTarget, types),
      ),
  }
}

const selectTypes = (types: RelationType[], selectedTypes: RelationType[]) =>
  types.filter((type) => selectedTypes.includes(type))
