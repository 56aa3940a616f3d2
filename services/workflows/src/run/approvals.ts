import type { Page, PendingApproval, Principal, TenantScope } from '@opsplane/contracts'
import { type Database, isoText, parsePosition, tenantBinding } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import type { TaskId } from '../engine/task.js'
import { runStatement } from './store/store.js'

export type Decider = Pick<Principal, 'userId' | 'role'>

const findNames = ({ userId, role }: Decider) => [
  `user:${userId}`,
  ...(role === undefined ? [] : [`role:${role}`]),
]

/** An approval awaited by a run. */
export interface AwaitedApproval {
  task: TaskId
  /** Whether it names this person or their role in the workspace. */
  isFor: boolean
}

/** The approvals awaited by a run. */
export const awaitedApprovals = (
  sql: Database['sql'],
  runId: string,
  decider: Decider,
): Promise<readonly AwaitedApproval[]> =>
  runStatement<AwaitedApproval>(
    sql,
    `select task, bool_or(approver = any($2::text[])) as "isFor" from run_approvers
     where run_id = $1 group by task order by task`,
    [runId, findNames(decider)],
  )

export interface PendingOptions {
  tenant: TenantScope
  principal: Decider
  limit: number
  after: string | undefined
  binding: string
  cursors: CursorCodec
}

interface Row {
  id: string
  workflow_id: string
  workflow_name: string
  queued_at: string
}

/** Runs that wait for this person, newest first. */
export async function pendingApprovals(
  sql: Database['sql'],
  { tenant, principal, limit, after, cursors, ...options }: PendingOptions,
): Promise<Page<PendingApproval>> {
  const binding = tenantBinding(tenant, `${options.binding}|${principal.userId}`)
  const [, before = null] = after === undefined ? [] : parsePosition(cursors, after, binding)
  const rows = await runStatement<Row>(
    sql,
    `select r.id, r.workflow_id, r.workflow_name,
       ${isoText('r.queued_at')} as queued_at
     from (select distinct run_id from run_approvers
       where workspace_id = $1 and environment = $2 and approver = any($3::text[]) and ($4::text is null or run_id < $4)
       order by run_id desc limit $5::int) waiting
     join runs r on r.id = waiting.run_id order by r.id desc`,
    [tenant.workspaceId, tenant.environment, findNames(principal), before, String(limit + 1)],
  )
  const items = rows.slice(0, limit).map((row) => ({
    runId: row.id,
    workflowId: row.workflow_id,
    workflowName: row.workflow_name,
    queuedAt: row.queued_at,
  }))
  const end = rows.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: end ? cursors.encode([null, end.runId], binding) : null, limit }
}
