import { type TenantScope, WorkflowState, WorkflowStatus } from '@opsplane/contracts'
import { createGroups, type Database, isDatabaseUnavailable } from '@opsplane/postgres'
import { z } from 'zod'
import type { WorkflowStanding } from './transitions.js'

/** The fields of a workflow needed to start a run. */
export interface NamedWorkflowState extends WorkflowStanding {
  name: string
}

interface StateQuery {
  id: string
  tenant: TenantScope
}

const Row = z.object({
  n: z.int(),
  name: z.string(),
  status: WorkflowStatus,
  publishedVersion: z.int().nullable(),
  deactivatedReason: WorkflowState.shape.deactivatedReason,
})

/**
 * Reads the current state of workflows; `undefined` if there is none. Each is read after its request and never cached;
 * concurrent requests, such as those of runs that start together, share a statement.
 */
export function createWorkflowStateReader(database: Pick<Database, 'planned'>) {
  const stateReads = createGroups({
    write: (queries: readonly StateQuery[]) => find(database, queries),
    isAway: isDatabaseUnavailable,
  })
  return (id: string, tenant: TenantScope): Promise<NamedWorkflowState | undefined> =>
    stateReads.add({ id, tenant })
}

async function find({ planned }: Pick<Database, 'planned'>, queries: readonly StateQuery[]) {
  const rows = await planned.unsafe(
    `select asked.n::int - 1 as n, found.*
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality as asked (id, workspace_id, environment, n)
     cross join lateral (
       select name, status, (state->>'publishedVersion')::int as "publishedVersion",
           state->>'deactivatedReason' as "deactivatedReason"
       from workflows w
       where w.id = asked.id and w.workspace_id = asked.workspace_id and w.environment = asked.environment
       limit 1) found`,
    [
      queries.map(({ id }) => id),
      queries.map(({ tenant }) => tenant.workspaceId),
      queries.map(({ tenant }) => tenant.environment),
    ],
    { prepare: true },
  )
  const found = new Map(rows.map((row) => Row.parse(row)).map(({ n, ...standing }) => [n, standing]))
  return queries.map((_, n) => found.get(n))
}
