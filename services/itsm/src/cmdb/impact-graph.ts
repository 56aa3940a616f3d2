import { impactTypes, type RelationType, relationImpact, type TenantScope } from '@opsplane/contracts'
import { type Database, translatePostgresError } from '@opsplane/postgres'
import type { Dependence, Dependency, ImpactGraph, ImpactNode } from './impact.js'

const passing = (direction: 'to_source' | 'to_target') =>
  impactTypes.filter((type) => relationImpact[type] === direction)
const toSource = passing('to_source')
const toTarget = passing('to_target')

type DependenceRow = Omit<Dependence, 'dependent'> & ImpactNode

/** The graph of one tenant in Postgres. Every statement holds relations and items against the tenant. */
export function impactGraph(sql: Database['sql'], { workspaceId, environment }: TenantScope): ImpactGraph {
  const statement = async <Row extends object>(text: string, parameters: string[][]): Promise<Row[]> => {
    try {
      return await sql.unsafe<Row[]>(text, [workspaceId, environment, ...parameters])
    } catch (error) {
      throw translatePostgresError(error)
    }
  }

  return {
    async dependents(ids) {
      const rows = await statement<DependenceRow>(
        `select e."relationId", e.type, e.here as dependency, i.id, i.name, i.class, i.status, i.criticality, i.state->'redundancy' as redundancy
           from (${directed('target_id', 'source_id', '$4')} union all ${directed('source_id', 'target_id', '$5')}) e
           join configuration_items i on i.id = e.other
          where i.workspace_id = $1 and i.environment = $2`,
        [ids, toSource, toTarget],
      )
      return rows.map(
        ({ relationId, type, dependency, id, name, class: itemClass, status, criticality, redundancy }) => ({
          relationId,
          type,
          dependency,
          dependent: { id, name, class: itemClass, status, criticality, redundancy },
        }),
      )
    },

    dependencies: (ids, types) =>
      statement<Dependency>(
        `select e.here as dependent, e.type, i.id, i.status
           from (${directed('source_id', 'target_id', '$4')} union all ${directed('target_id', 'source_id', '$5')}) e
           join configuration_items i on i.id = e.other
          where i.workspace_id = $1 and i.environment = $2`,
        [ids, only(toSource, types), only(toTarget, types)],
      ),
  }
}

/** The relations with one of the given items at `here`, with what is at the other end. */
const directed = (here: string, there: string, types: string) =>
  `select id as "relationId", type, ${here} as here, ${there} as other from ci_relations
    where workspace_id = $1 and environment = $2 and ${here} = any($3::text[]) and type = any(${types}::text[])`

const only = (types: RelationType[], wanted: RelationType[]) => types.filter((type) => wanted.includes(type))
