import { type Page, SkippedTrigger, type TenantScope } from '@opsplane/contracts'
import { defineList, type Route } from '@opsplane/http'
import {
  type Database,
  isoText,
  parsePosition,
  type StatementRunner,
  tenantBinding,
} from '@opsplane/postgres'
import type { CursorCodec, Logger } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import type { LogPositions } from '../run/event-wait/accepted-event.js'
import { requireWorkflow } from '../run/queries.js'
import { runStatement } from '../run/store/store.js'
import { tag } from '../workflow/routes.js'

/** A cause that started no run of a workflow, with the reason. */
export interface SkippedCause extends Pick<Cause, 'type' | 'id' | 'at'> {
  workflowId: string
  tenant: TenantScope
  reason: SkippedTrigger['reason']
}

/** Records a skipped trigger, once for each cause. */
export async function recordSkipped(
  on: StatementRunner,
  { workflowId, tenant, type, id, at, reason }: SkippedCause,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  await runStatement(
    on,
    `insert into skipped_triggers (workflow_id, trigger_id, workspace_id, environment, trigger_type, triggered_at, reason)
     values ($1, $2, $3, $4, $5, $6::text::timestamptz, $7) on conflict do nothing`,
    [workflowId, id, tenant.workspaceId, tenant.environment, type, at, reason],
  )
  log.warn({ workflowId, trigger: type, reason }, 'a trigger started no run')
}

export function skippedRoutes({ database: { sql }, cursors }: ServiceContext): Route[] {
  return [
    defineList({
      operationId: 'listSkippedTriggers',
      path: '/workflows/:id/skipped-triggers',
      summary: 'List skipped triggers',
      description:
        'Lists events, calls and scheduled times that would have started a run of the workflow but did not; latest ' +
        'first.',
      tag,
      scope: 'workflows:read',
      response: SkippedTrigger,
      handler: async ({ params, query: { limit, after }, binding, meta: { tenant } }) => {
        await requireWorkflow(sql, params.id, tenant)
        return listSkipped(sql, { tenant, workflowId: params.id, limit, after, binding, cursors })
      },
    }),
  ]
}

interface ListOptions {
  tenant: TenantScope
  workflowId: string
  limit: number
  after: string | undefined
  binding: string
  cursors: CursorCodec
}

interface Row {
  trigger_id: string
  trigger_type: string
  triggered_at: string
  reason: SkippedTrigger['reason']
}

async function listSkipped(
  sql: Database['sql'],
  { tenant, workflowId, limit, cursors, ...page }: ListOptions,
): Promise<Page<SkippedTrigger>> {
  const binding = tenantBinding(tenant, `${page.binding}|${workflowId}`)
  const [at = null, id = ''] = page.after === undefined ? [] : parsePosition(cursors, page.after, binding)
  const rows = await runStatement<Row>(
    sql,
    `select trigger_id, trigger_type, reason,
       ${isoText('triggered_at')} as triggered_at
     from skipped_triggers
     where workspace_id = $1 and environment = $2 and workflow_id = $3
       and ($4::text is null or (triggered_at, trigger_id) < ($4::text::timestamptz, $5))
     order by skipped_triggers.triggered_at desc, trigger_id desc limit $6::int`,
    [
      tenant.workspaceId,
      tenant.environment,
      workflowId,
      at === null ? null : String(at),
      id,
      String(limit + 1),
    ],
  )
  const items = rows.slice(0, limit).map((row) => ({
    triggerId: row.trigger_id,
    triggerType: row.trigger_type,
    triggeredAt: row.triggered_at,
    reason: row.reason,
  }))
  const end = rows.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: end ? cursors.encode([end.triggeredAt, end.triggerId], binding) : null, limit }
}

/** An event, call or scheduled time that triggers a workflow. */
export interface Cause {
  type: string
  /** Id of the event, call or scheduled time; unique among the runs of a workflow. */
  id: string
  at: string
  event: unknown
  input: unknown
  depth: number
  /** Log positions at that time, if known. */
  since?: LogPositions
  requestId: string | null
  causationId: string | null
  /** Trace context of its span, if traced. */
  traceparent?: string | undefined
}
