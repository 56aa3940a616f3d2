import type { TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { Callee, FindWorkflows } from './check/sub-workflows.js'
import { StoredVersion, versionRef } from './versions.js'

const Named = z.object({ id: z.string(), published: z.int().nullable() })

/** Workflows of a tenant that are not archived, with the definition they run. */
export const findWorkflows =
  ({ sql }: Database, { workspaceId, environment }: TenantScope): FindWorkflows =>
  async (ids) => {
    if (ids.length === 0) return new Map()
    const rows = await sql.unsafe(
      `select id, (state->>'publishedVersion')::int as published from workflows
       where id = any($1::text[]) and workspace_id = $2 and environment = $3 and status <> 'archived'`,
      [[...ids], workspaceId, environment],
      { prepare: true },
    )
    const found = z.array(Named).parse([...rows])
    const refs = found.flatMap(({ id, published }) => (published === null ? [] : [versionRef(id, published)]))
    const versions = await sql.unsafe<{ id: string; state: unknown }[]>(
      `select id, state from workflow_versions where id = any($1::text[])`,
      [refs],
      { prepare: true },
    )
    const byWorkflow = new Map(
      versions.map(({ state }) => {
        const { workflowId, definition } = StoredVersion.parse(state)
        return [workflowId, definition]
      }),
    )
    return new Map(
      found.map(({ id }): [string, Callee] => [id, { id, definition: byWorkflow.get(id) ?? null }]),
    )
  }

const Name = z.object({ id: z.string(), name: z.string() })

/** Ids and names of the workflows of a tenant that have one of these ids or names and are not archived. */
export async function findWorkflowNames(
  { sql }: Database,
  { workspaceId, environment }: TenantScope,
  query: { ids?: readonly string[]; names?: readonly string[] },
): Promise<{ id: string; name: string }[]> {
  const rows = await sql.unsafe(
    `select id, name from workflows
     where workspace_id = $1 and environment = $2 and status <> 'archived'
       and (id = any($3::text[]) or name = any($4::text[])) order by created_at, id limit 1000`,
    [workspaceId, environment, [...(query.ids ?? [])], [...(query.names ?? [])]],
    { prepare: true },
  )
  return z.array(Name).parse([...rows])
}
