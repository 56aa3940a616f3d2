import {
  ApiError,
  type FailureGroup,
  invalidField,
  maxCountedFailures,
  notFound,
  type Page,
  type TenantScope,
} from '@opsplane/contracts'
import type { CursorCodec } from '@opsplane/runtime'
import type { StatementRunner } from '../database.js'
import { parsePosition, tenantBinding } from '../keyset.js'

export interface FailuresOptions {
  /**
   * A query for the failed items with the columns target_id, target_name, cause (equal within a group), code,
   * message, at (text) and is_more. Its parameters are `parameters`, preceded by those of the tenant.
   */
  failed: string
  parameters: readonly string[]
  tenant: TenantScope
  target: FailureGroup['target']['type']
  /**
   * The position up to which the query reads; by default the time of each group's last failure, which does not
   * depend on clocks.
   */
  position?: string | number
  limit: number
  after: string | undefined
  binding: string
  cursors: CursorCodec
}

interface Row extends Pick<FailureGroup, 'id' | 'count' | 'isMore' | 'firstAt' | 'lastAt'> {
  targetId: string
  targetName: string
  code: string | null
  message: string | null
}

/** Number of failures to read of a target: one more than is counted, to detect further ones. */
export const readFailures = maxCountedFailures + 1

/** SQL for a message without details that vary between cases, such as ids, numbers and times. */
export const withoutDetails = (message: string) =>
  `left(regexp_replace(left(${message}, 500), '[[:alnum:]_-]*[0-9][[:alnum:]_-]*', '#', 'g'), 200)`

/** One page of groups of failures, by target and cause; the group with the latest failure comes first. */
export async function failureGroups(
  sql: StatementRunner,
  options: FailuresOptions,
): Promise<Page<FailureGroup>> {
  const { tenant, limit, cursors, position } = options
  const binding = tenantBinding(tenant, options.binding)
  const last = options.after === undefined ? [null, null] : parsePosition(cursors, options.after, binding)
  const parameters = [tenant.workspaceId, tenant.environment, ...options.parameters, ...last, limit + 1]
  const rows = await sql.unsafe<Row[]>(
    statementOf(options),
    parameters.map((value) => (value === null ? null : String(value))),
    { prepare: true },
  )
  const items = rows.slice(0, limit).map(({ targetId, targetName, code, message, ...row }) => ({
    ...row,
    target: { type: options.target, id: targetId, name: targetName },
    cause: { code: code ?? 'unknown', message: message ?? '' },
    to: cursors.encode([position ?? row.lastAt], positionBinding(tenant, row.id)),
  }))
  const end = rows.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: end ? cursors.encode([end.lastAt, end.id], binding) : null, limit }
}

function statementOf({ failed, parameters }: Pick<FailuresOptions, 'failed' | 'parameters'>): string {
  const [at, id, limit] = [3, 4, 5].map((place) => `$${place + parameters.length}`)
  return `with failed as materialized (${failed}),
    groups as (
      select target_id || '.' || cause as id, target_id as "targetId", max(target_name) as "targetName",
        (array_agg(code order by at desc))[1] as code, (array_agg(message order by at desc))[1] as message,
        least(count(*), ${maxCountedFailures})::int as count, bool_or(is_more) as "isMore",
        min(at) as "firstAt", max(at) as "lastAt"
      from failed group by target_id, cause)
    select * from groups where ${at}::text is null or ("lastAt", id) < (${at}::text, ${id}::text)
    order by "lastAt" desc, id desc limit ${limit}::text::int`
}

const positionBinding = (tenant: TenantScope, groupId: string) => tenantBinding(tenant, `failures/${groupId}`)

export interface FailureGroupKey {
  targetId: string
  cause: string
}

export const formatGroupId = ({ targetId, cause }: FailureGroupKey) => `${targetId}.${cause}`

/** Throws `not_found` if it is not a group id. */
export function parseGroupId(groupId: string): FailureGroupKey {
  const [targetId, cause, ...others] = groupId.split('.')
  if (!targetId || !cause || others.length > 0) throw notFound()
  return { targetId, cause }
}

/**
 * The position up to which a group was listed. Throws `validation_failed` if the cursor was not issued for this
 * group.
 */
export function failuresPosition(
  cursors: CursorCodec,
  { to, groupId, tenant }: { to: string; groupId: string; tenant: TenantScope },
): string {
  try {
    const [position] = cursors.decode(to, positionBinding(tenant, groupId))
    return String(position)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw invalidField('/to', 'invalid_cursor', 'It is not the `to` of this group: list the failures again.')
  }
}
