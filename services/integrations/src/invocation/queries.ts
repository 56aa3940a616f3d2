import {
  ApiError,
  type ConnectorInvocation,
  type ConnectorInvocationDetail,
  type InvocationFilters,
  InvocationStatus,
  idPrefixes,
  idSchema,
  notFound,
  type Page,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { and, desc, eq, gte, lt } from 'drizzle-orm'
import type { z } from 'zod'
import { connectorInvocations as table } from '../schema.js'

type Row = typeof table.$inferSelect

export interface ListInvocations extends z.output<typeof InvocationFilters> {
  tenant: TenantScope
  connectorId: string
  limit: number
  /** Id of an invocation: the page contains older ones. */
  after?: string | undefined
}

const ofConnector = ({ workspaceId, environment }: TenantScope, connectorId: string) =>
  and(
    eq(table.workspaceId, workspaceId),
    eq(table.environment, environment),
    eq(table.connectorId, connectorId),
  )

/** Lists invocations, newest first. */
export async function listInvocations(
  { db }: Database,
  options: ListInvocations,
): Promise<Page<ConnectorInvocation>> {
  const { tenant, connectorId, limit, after, status, action, callerId, trigger, from, to } = options
  checkCursor(after)
  const rows = await db
    .select()
    .from(table)
    .where(
      and(
        ofConnector(tenant, connectorId),
        status && eq(table.status, status),
        action === undefined ? undefined : eq(table.action, action),
        callerId === undefined ? undefined : eq(table.callerId, callerId),
        trigger === undefined ? undefined : eq(table.trigger, trigger),
        from === undefined ? undefined : gte(table.createdAt, from),
        to === undefined ? undefined : lt(table.createdAt, to),
        after === undefined ? undefined : lt(table.id, after),
      ),
    )
    .orderBy(desc(table.id))
    .limit(limit + 1)
  const items = rows.slice(0, limit).map(shown)
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null, limit }
}

/** Throws `not_found`. */
export async function getInvocation(
  { db }: Database,
  tenant: TenantScope,
  connectorId: string,
  id: string,
): Promise<ConnectorInvocationDetail> {
  const [row] = await db
    .select()
    .from(table)
    .where(and(ofConnector(tenant, connectorId), eq(table.id, id)))
  if (!row) throw notFound()
  const { request, response, truncated } = row
  return { ...shown(row), request, response, truncated }
}

function shown(row: Row): ConnectorInvocation {
  const { id, connectorId, action, trigger, run, callerId, attempts, durationMs, errorCode, errorMessage } =
    row
  const { requestId, createdAt } = row
  return {
    ...{ id, connectorId, action, status: InvocationStatus.parse(row.status), trigger, run, callerId },
    ...{ attempts, durationMs, errorCode, errorMessage, requestId, createdAt },
  }
}

function checkCursor(after: string | undefined): void {
  if (after === undefined || idSchema('invocation').safeParse(after).success) return
  const message = `A cursor of this list is the id of an invocation, such as ${idPrefixes.invocation}_….`
  throw new ApiError('invalid_cursor', message, {
    details: [{ in: 'query', path: '/after', code: 'invalid_cursor', message }],
  })
}
