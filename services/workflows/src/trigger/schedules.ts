import { type TenantScope, WorkflowTrigger } from '@opsplane/contracts'
import {
  removeSchedule,
  type ScheduleOwner,
  type ScheduleRow,
  type StatementRunner,
  scheduleWork,
  upsertSchedule,
} from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import type { Runs } from '../run/runs.js'
import type { StartRequest } from '../run/start.js'
import { sendSignals } from '../run/transition-effects.js'
import type { Workflows } from '../workflow/workflows.js'
import { recordSkipped } from './skipped-triggers.js'

export interface ScheduleTriggersOptions {
  workflows: Pick<Workflows, 'published' | 'versions'>
  runs: Pick<Runs, 'start' | 'wake'>
}

/** Events after which a workflow may have another schedule, or none. */
const watched = [
  'workflow.published',
  'workflow.rolled_back',
  'workflow.activated',
  'workflow.deactivated',
  'workflow.archived',
]

const kind = 'workflow'
const findOwner = (id: string, tenant: TenantScope): ScheduleOwner => ({ kind, id, tenant })

/**
 * Starts scheduled workflows when they are due. Schedules are derived from the workflows' current state, so redelivered
 * and late events do no harm.
 */
export function startScheduleTriggers(ctx: ServiceContext, options: ScheduleTriggersOptions): BackgroundWork {
  const { consume, database, dueWork, log } = ctx
  const work = dueWork.start(
    scheduleWork({
      name: 'workflow schedules',
      isActive: async (tx, row) => (await goingOn(tx, row)).length,
      async fire(tx, row, fireAt, begin) {
        if (begin === 'replace') await cancelAll(tx, await goingOn(tx, row), row.at)
        await options.runs.start(await toStartRequest(tx, options.workflows, row, fireAt), tx)
      },
      skipped: (tx, { ownerId: workflowId, tenant }, fireAt) =>
        recordSkipped(
          tx,
          { workflowId, tenant, ...{ type: 'schedule', id: fireAt, at: fireAt, reason: 'overlap' } },
          log,
        ),
      committed: options.runs.wake,
    }),
  )
  return consume({
    durable: 'workflows-schedules',
    types: watched,
    perform: async (events) => {
      for (const { resource, workspaceId, environment } of events)
        await follow(database.sql, resource.id, { workspaceId, environment })
      work.wake()
    },
  })
}

const Standing = z.object({ status: z.string(), trigger: WorkflowTrigger.nullable() })

/** Synchronizes the schedule with the workflow's current state. */
async function follow(sql: StatementRunner, id: string, tenant: TenantScope): Promise<void> {
  const [row] = await sql.unsafe(
    `select status, state->'trigger' as trigger from workflows where id = $1 and workspace_id = $2 and environment = $3`,
    [id, tenant.workspaceId, tenant.environment],
    { prepare: true },
  )
  if (!row) return
  const { status, trigger } = Standing.parse(row)
  const owner = findOwner(id, tenant)
  if (status === 'active' && trigger?.type === 'schedule') await upsertSchedule(sql, owner, trigger.schedule)
  else await removeSchedule(sql, owner)
}

/** Runs started by the schedule that have not ended. */
async function goingOn(tx: StatementRunner, { ownerId }: ScheduleRow): Promise<string[]> {
  const rows = await tx.unsafe<{ id: string }[]>(
    `select id from runs where workflow_id = $1 and trigger_type = 'schedule' and ended_at is null order by id`,
    [ownerId],
    { prepare: true },
  )
  return rows.map(({ id }) => id)
}

async function cancelAll(tx: StatementRunner, runIds: string[], at: string): Promise<void> {
  const signal = { kind: 'cancel', by: 'system', reason: 'The schedule has started the next run.' } as const
  await sendSignals(tx, runIds, { signal, actor: null, requestId: null }, at)
}

async function toStartRequest(
  tx: StatementRunner,
  { published, versions }: ScheduleTriggersOptions['workflows'],
  { ownerId, tenant }: ScheduleRow,
  fireAt: string,
): Promise<StartRequest> {
  const workflow = await published(ownerId, tenant)
  const { trigger } = (await versions.load(workflow.programRef, tenant, tx)).definition
  return {
    ...{ tenant, workflow, event: null, depth: 0, requestId: null, causationId: null },
    trigger: { type: 'schedule', id: fireAt, at: fireAt },
    triggerKey: `schedule/${fireAt}`,
    input: (trigger.type === 'schedule' ? trigger.input : null) ?? null,
    actor: { id: ownerId, name: workflow.name, type: 'workflow' },
  }
}
