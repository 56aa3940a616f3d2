import { notFound, type Page, type Run, type RunFilters, type TenantScope } from '@opsplane/contracts'
import { type Database, parsePosition, tenantBinding } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { allowedRunActions } from '../engine/run-states.js'
import { type RunRow, runColumns, toClaimedRun } from './lease.js'
import type { RunIdentity } from './model.js'
import { toRunState } from './run-events.js'
import { runStatement } from './store/store.js'

export interface FoundRun {
  identity: RunIdentity
  shown: Run
}

type Found = RunRow & { key: string }

function found(row: Found): FoundRun {
  const { identity, progress, seq } = toClaimedRun({ ...row, fence: '' })
  return {
    identity,
    shown: {
      ...toRunState(identity, progress),
      version: seq + 1,
      allowedActions: allowedRunActions(progress.status),
    },
  }
}

const columns = `id as key, ${runColumns.join(', ')}`

/** Throws `not_found` for an unknown run, or one of another tenant. */
export async function findRun(sql: Database['sql'], id: string, tenant: TenantScope): Promise<FoundRun> {
  const [row] = await runStatement<Found>(
    sql,
    `select ${columns} from runs where id = $1 and workspace_id = $2 and environment = $3`,
    [id, tenant.workspaceId, tenant.environment],
  )
  if (!row) throw notFound()
  return found(row)
}

/** Throws `not_found` if the tenant has no such workflow. */
export async function requireWorkflow(sql: Database['sql'], id: string, tenant: TenantScope): Promise<void> {
  const [found] = await runStatement<{ id: string }>(
    sql,
    'select id from workflows where id = $1 and workspace_id = $2 and environment = $3',
    [id, tenant.workspaceId, tenant.environment],
  )
  if (!found) throw notFound()
}

export interface ListOptions {
  tenant: TenantScope
  filters: RunFilters
  limit: number
  after: string | undefined
  binding: string
  cursors: CursorCodec
}

/**
 * Returns one page of runs, newest first. Ids sort by queue time, so every filter has an index that ends with this
 * order, and time bounds become id bounds.
 */
export async function listRuns(sql: Database['sql'], options: ListOptions): Promise<Page<Run>> {
  const { tenant, limit, cursors } = options
  const binding = tenantBinding(tenant, options.binding)
  const [, last = null] = options.after === undefined ? [] : parsePosition(cursors, options.after, binding)
  const { text, parameters } = buildListStatement(tenant, options.filters, last, limit + 1)
  // Planned for the actual values: a generic plan suited to common values reads everything for a rare one.
  const rows = await sql.unsafe<Found[]>(text, parameters, { prepare: false })
  const items = rows.slice(0, limit).map((row) => found(row).shown)
  const end = rows.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: end ? cursors.encode([null, end.id], binding) : null, limit }
}

/** Only the requested conditions, so that each combination has its own plan. */
export function buildListStatement(
  { workspaceId, environment }: TenantScope,
  { status, triggerType, triggerId, workflowId, from, to }: RunFilters,
  before: string | null,
  limit: number,
) {
  const parameters: string[] = []
  const conditions: string[] = []
  const where = (condition: (parameter: string) => string, value: string | null | undefined) => {
    if (value === undefined || value === null) return
    parameters.push(value)
    conditions.push(condition(`$${parameters.length}`))
  }
  where((value) => `workspace_id = ${value}`, workspaceId)
  where((value) => `environment = ${value}`, environment)
  where((value) => `status = ${value}`, status)
  where((value) => `trigger_type = ${value}`, triggerType)
  where(triggerId?.startsWith('run_') ? (value) => `parent_run_id = ${value}` : startedBy, triggerId)
  where((value) => `workflow_id = ${value}`, workflowId)
  where((value) => `id >= ${value}`, from === undefined ? null : buildIdPrefix(from))
  where((value) => `id < ${value}`, to === undefined ? null : buildIdPrefix(to))
  where((value) => `id < ${value}`, before)
  // A literal number, so that the plan is made for few rows.
  const text = `select ${columns} from runs where ${conditions.join(' and ')} order by id desc limit ${limit}`
  return { text, parameters }
}

/** Uses the keys by which each trigger starts only one run of a workflow. */
const startedBy = (triggerId: string) => `id = any(array(
  select run_id from run_triggers
  where key in ('event/' || ${triggerId}, 'event_bus/' || ${triggerId}, 'webhook/' || ${triggerId})))`

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The prefix of ids created in this millisecond. */
function buildIdPrefix(instant: string): string {
  let ms = Date.parse(instant)
  let time = ''
  for (let place = 0; place < 10; place++) {
    time = `${digits[ms % 32]}${time}`
    ms = Math.floor(ms / 32)
  }
  return `run_${time}`
}
