import type { Environment, TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { WorkflowRecord } from '../workflow/domain.js'

/** An active workflow that something may start. */
export interface Candidate {
  tenant: TenantScope
  keys: readonly string[]
  state: WorkflowRecord
}

interface Row {
  workspace_id: string
  environment: Environment
  keys: string[]
  state: WorkflowRecord
}

/** Active workflows with any of these trigger keys: one statement for a batch of events. */
export async function candidatesFor({ sql }: Database, keys: readonly string[]): Promise<Candidate[]> {
  const rows = await sql.unsafe<Row[]>(
    `select workspace_id, environment, trigger_keys as keys, state from workflows
     where trigger_keys && $1::text[] order by id`,
    [[...new Set(keys)]],
    { prepare: true },
  )
  return rows.map(({ workspace_id: workspaceId, environment, ...row }) => ({
    tenant: { workspaceId, environment },
    ...row,
  }))
}

/** The active workflow with this address; null for one that is none, or not active, or not started by a webhook. */
export async function workflowOfHook({ sql }: Database, hookId: string): Promise<Candidate | null> {
  const [row] = await sql.unsafe<Row[]>(
    `select workspace_id, environment, trigger_keys as keys, state from workflows
     where hook_id = $1 and status = 'active' and trigger_type = 'webhook'`,
    [hookId],
    { prepare: true },
  )
  if (!row) return null
  const { workspace_id: workspaceId, environment, keys, state } = row
  return { tenant: { workspaceId, environment }, keys, state }
}

const Depth = z.object({ run_id: z.string(), depth: z.int().min(0) })

/** How many runs had caused each of these runs; those that are not there any more are absent. */
export async function depthsOf({ sql }: Database, runIds: readonly string[]): Promise<Map<string, number>> {
  if (runIds.length === 0) return new Map()
  const rows = await sql.unsafe(
    `select run_id, (entry->>'depth')::int as depth from run_entries where run_id = any($1::text[]) and seq = 0`,
    [[...new Set(runIds)]],
    { prepare: true },
  )
  return new Map(
    z
      .array(Depth)
      .parse([...rows])
      .map(({ run_id, depth }) => [run_id, depth]),
  )
}
