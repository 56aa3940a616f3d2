import type { Environment, TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { WorkflowRecord } from '../workflow/domain.js'

/** An active workflow that an event may start. */
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

const columns = 'workspace_id, environment, trigger_keys as keys, state'

const toCandidate = ({ workspace_id: workspaceId, environment, keys, state }: Row): Candidate => ({
  tenant: { workspaceId, environment },
  keys,
  state,
})

/** Active workflows with any of these trigger keys. */
export async function findCandidates({ sql }: Database, keys: readonly string[]): Promise<Candidate[]> {
  const rows = await sql.unsafe<Row[]>(
    `select ${columns} from workflows where trigger_keys && $1::text[] order by id`,
    [[...new Set(keys)]],
    { prepare: true },
  )
  return rows.map(toCandidate)
}

/** The workflows and waiting runs that a batch of events may affect. */
export interface AffectedWorkflows {
  /** Active workflows with any of the keys as a trigger. */
  candidates: Candidate[]
  /** Those keys for which a step of some workflow version may wait. */
  awaitedKeys: ReadonlySet<string>
}

/** Finds both in one statement for a batch, because most events start and resume nothing. */
export async function findAffectedWorkflows(
  { sql }: Pick<Database, 'sql'>,
  keys: ReadonlySet<string>,
): Promise<AffectedWorkflows> {
  const [found] = await sql.unsafe<{ candidates: Row[] | null; awaited: string[] | null }[]>(
    `select
       (select json_agg(w order by w.id) from (
          select id, ${columns} from workflows where trigger_keys && $1::text[]) w) as candidates,
       (select array_agg(key) from unnest($1::text[]) key
        where exists (select from workflow_versions where awaited_keys @> array[key])) as awaited`,
    [[...keys]],
    { prepare: true },
  )
  return {
    candidates: (found?.candidates ?? []).map(toCandidate),
    awaitedKeys: new Set(found?.awaited ?? []),
  }
}

/**
 * The workflow with this webhook address, active or suspended; `null` if it does not exist, is inactive, or is not
 * started by a webhook.
 */
export async function findHookWorkflow({ sql }: Database, hookId: string): Promise<Candidate | null> {
  const [row] = await sql.unsafe<Row[]>(
    `select ${columns} from workflows
     where hook_id = $1 and trigger_type = 'webhook'
       and (status = 'active' or status = 'inactive' and state->>'deactivatedReason' = 'owner_rights')`,
    [hookId],
    { prepare: true },
  )
  return row ? toCandidate(row) : null
}

const Depth = z.object({ run_id: z.string(), depth: z.int().min(0) })

/** Number of causes before each of these runs; deleted runs are absent. */
export async function findCauseDepths(
  { sql }: Database,
  runIds: readonly string[],
): Promise<Map<string, number>> {
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
