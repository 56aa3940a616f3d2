import {
  type Execution,
  type ExecutionsQuery,
  type ExecutionType,
  notFound,
  type Page,
  type TenantScope,
} from '@opsplane/contracts'
import type { DepthsOf } from '@opsplane/http'
import { type Database, isoText, parsePosition, tenantBinding } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import type { TouchedRecord } from './model.js'

/** The fields of an execution in the API, in order. */
const shown = [
  ...['id', 'artifact_slug', 'artifact_version', 'trigger_type', 'trigger_id', 'status'],
  ...['input', 'output', 'error', `coalesce(logs, '[]'::json) as logs`, 'duration_ms', 'memory_peak_mb'],
  ...['started_at', 'completed_at'].map((name) => `${isoText(name)} as ${name}`),
  ...['environment', 'workspace_id', 'replay_of', 'omitted'],
].join(', ')

type Row = Omit<Execution, 'replay_of' | 'omitted'> & { replay_of: string | null; omitted: boolean }

const present = ({ replay_of, omitted, ...row }: Row): Execution => ({
  ...row,
  ...(replay_of !== null && { replay_of }),
  ...(omitted && { omitted }),
})

/** An execution with the additional data a replay needs. */
export interface StoredExecution {
  shown: Execution
  artifactId: string
  executionType: ExecutionType
  inputMasked: boolean
  /** The sealed result, if the shown one is incomplete. */
  sealedResult: string | null
  /** The records that triggered it. */
  records: TouchedRecord[]
}

/** Throws `not_found` if the execution does not exist or belongs to another tenant. */
export async function getExecution(
  sql: Database['sql'],
  id: string,
  { workspaceId, environment }: TenantScope,
): Promise<StoredExecution> {
  const [row] = await sql.unsafe<(Row & Omit<StoredExecution, 'shown'>)[]>(
    `select ${shown}, artifact_id as "artifactId", execution_type as "executionType", input_masked as "inputMasked",
       (select sealed from execution_results r where r.execution_id = e.id) as "sealedResult",
       coalesce((select json_agg(json_build_object('id', record_id, 'table', table_name))
         from execution_records r where r.execution_id = e.id and triggered), '[]'::json) as records
     from executions e where id = $1 and workspace_id = $2 and environment = $3`,
    [id, workspaceId, environment],
    { prepare: true },
  )
  if (!row) throw notFound()
  const { artifactId, executionType, inputMasked, sealedResult, records, ...fields } = row
  return { shown: present(fields), artifactId, executionType, inputMasked, sealedResult, records }
}

export interface ListExecutionsOptions {
  tenant: TenantScope
  filters: ExecutionsQuery
  /** Restricts the list to one artifact of the tenant. */
  artifactId?: string
  limit: number
  after: string | undefined
  binding: string
  cursors: CursorCodec
}

/** A page ends early rather than exceed this size, but has at least one execution. */
const maxBytes = 8 * 1024 * 1024

/** Returns one page of executions, newest first. */
export async function listExecutions(
  sql: Database['sql'],
  options: ListExecutionsOptions,
): Promise<Page<Execution>> {
  const { tenant, limit, cursors } = options
  const binding = tenantBinding(tenant, options.binding)
  const [, last = null] = options.after === undefined ? [] : parsePosition(cursors, options.after, binding)
  const { text, parameters } = listStatement(options, last)
  const rows = await sql.unsafe<(Row & { more: boolean })[]>(text, parameters, { prepare: true })
  const items = rows.map(({ more: _, ...row }) => present(row))
  const end = rows.at(-1)
  const nextCursor = end?.more ? cursors.encode([null, end.id], binding) : null
  return { items, nextCursor, limit }
}

/** Includes only the requested conditions, so that each combination has its own plan. */
export function listStatement(
  {
    tenant,
    filters,
    artifactId,
    limit,
  }: Pick<ListExecutionsOptions, 'tenant' | 'filters' | 'artifactId' | 'limit'>,
  before: string | null,
) {
  const parameters: string[] = []
  const conditions: string[] = []
  const place = (value: string) => `$${parameters.push(value)}`
  const equal = (column: string, value: string | null | undefined) => {
    if (value !== undefined && value !== null) conditions.push(`e.${column} = ${place(value)}`)
  }
  equal('workspace_id', tenant.workspaceId)
  equal('environment', tenant.environment)
  equal('artifact_id', artifactId)
  equal('artifact_type', filters.artifactType)
  equal('execution_type', filters.executionType)
  equal('trigger_type', filters.triggerType)
  equal('trigger_id', filters.triggerId)
  equal('status', filters.status)
  if (filters.success !== undefined)
    conditions.push(filters.success ? `e.status = 'completed'` : `e.status in ('failed', 'timeout')`)
  if (before !== null) conditions.push(`e.id < ${place(before)}`)
  const touched = touchedBy(filters, tenant, place)
  if (touched) conditions.push(touched)
  const [most, bytes] = [place(String(limit + 1)), place(String(maxBytes))]
  const text = `with found as materialized (
      select e.id, e.bytes from executions e where ${conditions.join(' and ')} order by e.id desc limit ${most}::int),
    sized as (
      select id, row_number() over (order by id desc) as place,
        sum(bytes) over (order by id desc) - bytes as before, count(*) over () as found from found),
    page as (
      select id, place < found as more from sized
      where place < ${most}::int and (place = 1 or before < ${bytes}::bigint))
    select ${shown}, page.more from page join executions using (id) order by id desc`
  return { text, parameters }
}

/** Condition for a record that triggered an execution or was touched by it. */
function touchedBy(
  { tableName, recordId }: Pick<ExecutionsQuery, 'tableName' | 'recordId'>,
  { workspaceId, environment }: TenantScope,
  place: (value: string) => string,
): string | undefined {
  if (tableName === undefined && recordId === undefined) return undefined
  const conditions = [
    `r.workspace_id = ${place(workspaceId)}`,
    `r.environment = ${place(environment)}`,
    ...(recordId === undefined ? [] : [`r.record_id = ${place(recordId)}`]),
    ...(tableName === undefined ? [] : [`r.table_name = ${place(tableName)}`]),
  ]
  return `exists (select 1 from execution_records r where r.execution_id = e.id and ${conditions.join(' and ')})`
}

/** Returns the depth of each execution in its chain of causes; deleted executions are absent. */
export const executionDepths =
  ({ sql }: Pick<Database, 'sql'>): DepthsOf =>
  async (ids) => {
    if (ids.length === 0) return new Map()
    const rows = await sql.unsafe<{ id: string; depth: number }[]>(
      'select id, depth from executions where id = any($1::text[])',
      [[...new Set(ids)]],
      { prepare: true },
    )
    return new Map(rows.map(({ id, depth }) => [id, depth]))
  }
