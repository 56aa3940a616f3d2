import {
  impactTypes,
  RedundancyByType,
  type RelationType,
  relationImpact,
  type TenantScope,
} from '@opsplane/contracts'
import { type Database, translatePostgresError } from '@opsplane/postgres'
import type { Dependency, ImpactGraph, ImpactNode } from './impact.js'

const passing = (direction: 'to_source' | 'to_target') =>
  impactTypes.filter((type) => relationImpact[type] === direction)
/** Types over which the source goes down with the target. */
export const toSource = passing('to_source')
/** Types over which the target goes down with the source. */
export const toTarget = passing('to_target')

interface Step {
  relationId: string
  type: RelationType
  dependency: string
  dependent: string
}

/** The pool, or one transaction. */
export type StatementRunner = Pick<Database['sql'], 'unsafe'>

/**
 * The graph of one tenant in Postgres, for one walk. Every statement holds what it reads against the tenant, and
 * asks for all items of a hop at once; an item that several hops meet is read once.
 */
export function impactGraph(sql: StatementRunner, { workspaceId, environment }: TenantScope): ImpactGraph {
  const known = new Map<string, ImpactNode>()
  const statement = async <Row extends object>(text: string, parameters: string[][]): Promise<Row[]> => {
    try {
      return await sql.unsafe<Row[]>(text, [workspaceId, environment, ...parameters])
    } catch (error) {
      throw translatePostgresError(error)
    }
  }

  async function learn(ids: Iterable<string>): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !known.has(id))
    const rows = await statement<Omit<ImpactNode, 'redundancy'> & { redundancy: string }>(
      `select id, name, class, status, criticality, redundancy from configuration_items
        where workspace_id = $1 and environment = $2 and id in (select unnest($3::text[]))`,
      [unknown],
    )
    for (const row of rows) known.set(row.id, { ...row, redundancy: parsed(row.redundancy) })
  }

  return {
    async dependents(ids) {
      const steps = await statement<Step>(
        `select id as "relationId", type, target_id as dependency, source_id as dependent from ci_relations
          where workspace_id = $1 and environment = $2 and target_id in (select unnest($3::text[])) and type = any($4::text[])
         union all
         select id, type, source_id, target_id from ci_relations
          where workspace_id = $1 and environment = $2 and source_id in (select unnest($3::text[])) and type = any($5::text[])`,
        [ids, toSource, toTarget],
      )
      await learn(steps.map(({ dependent }) => dependent))
      return steps.flatMap(({ relationId, type, dependency, dependent: id }) => {
        const dependent = known.get(id)
        return dependent ? [{ relationId, type, dependency, dependent }] : []
      })
    },

    dependencies: (ids, types) =>
      statement<Dependency>(
        `select e.dependent, e.type, i.id, i.status from (
           select source_id as dependent, type, target_id as dependency from ci_relations
            where workspace_id = $1 and environment = $2 and source_id in (select unnest($3::text[])) and type = any($4::text[])
           union all
           select target_id, type, source_id from ci_relations
            where workspace_id = $1 and environment = $2 and target_id in (select unnest($3::text[])) and type = any($5::text[])
         ) e join configuration_items i on i.id = e.dependency
          where i.workspace_id = $1 and i.environment = $2`,
        [ids, only(toSource, types), only(toTarget, types)],
      ),
  }
}

const only = (types: RelationType[], wanted: RelationType[]) => types.filter((type) => wanted.includes(type))

const none: RedundancyByType = {}
const parsed = (text: string) => (text === '{}' ? none : RedundancyByType.parse(JSON.parse(text)))
