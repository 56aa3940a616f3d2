import { AppAccess, environments, PermissionName, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import { toWorkspaceScope } from '../workspace-scope.js'
import { StoredDeployment } from './domain.js'

type Sql = Pick<Database['sql'], 'unsafe'>

const Row = z.object({
  id: z.string(),
  state: StoredDeployment,
  version: z.int(),
  /** Access list of the app, if the query selects it. */
  access: AppAccess.nullish(),
})

async function one(sql: Sql, text: string, values: (string | number)[]): Promise<DeploymentRow | undefined> {
  const [row] = await sql.unsafe(text, values, { prepare: true })
  return row && Row.parse(row)
}
export type DeploymentRow = z.infer<typeof Row>

const ofApp = `select id, state, version from deployments
  where workspace_id = $1 and environment = $2 and app_id = $3 and status = 'completed'`

/** The live deployment of an app in the environment. */
export const findLiveDeployment = (sql: Sql, appId: string, { workspaceId, environment }: TenantScope) =>
  one(sql, `${ofApp} order by number desc limit 1`, [workspaceId, environment, appId])

export const findByNumber = (
  sql: Sql,
  appId: string,
  number: number,
  { workspaceId, environment }: TenantScope,
) => one(sql, `${ofApp} and number = $4`, [workspaceId, environment, appId, number])

/** The live deployment at an address, unless its app is archived. */
export const findLiveAtSlug = (sql: Sql, slug: string, { workspaceId, environment }: TenantScope) =>
  one(
    sql,
    `select d.id, d.state, d.version, a.state->'access' as access from apps a
     join deployments d on d.workspace_id = a.workspace_id and d.app_id = a.id and d.environment = $2
     where a.workspace_id = $1 and a.environment = $3 and a.slug = $4 and a.status = 'active'
       and d.status = 'completed'
     order by d.number desc limit 1`,
    [workspaceId, environment, toWorkspaceScope({ workspaceId }).environment, slug],
  )

const LiveDeployment = z.object({
  id: z.string(),
  environment: z.enum(environments),
  giver: z.string(),
  permissions: z.array(PermissionName),
})

/**
 * Live deployments of a workspace that are not held, with the rights they carry: those of these givers, or of all
 * (`null`).
 */
export async function listLiveByGivers(sql: Sql, workspaceId: string, givers: readonly string[] | null) {
  const rows = await sql.unsafe(
    `select id, environment, giver, permissions from (
       select distinct on (d.environment, d.app_id) d.id, d.environment,
         coalesce(d.state->>'giverId', d.state->>'deployedBy') as giver,
         d.state->'permissions' as permissions, d.state->>'heldReason' as held
       from deployments d join apps a on a.workspace_id = d.workspace_id and a.id = d.app_id and a.status = 'active'
       where d.workspace_id = $1 and d.status = 'completed'
       order by d.environment, d.app_id, d.number desc) live
     where held is null and ($2::text[] is null or giver = any($2::text[])) order by id`,
    [workspaceId, givers && [...givers]],
    { prepare: true },
  )
  return z.array(LiveDeployment).parse([...rows])
}
