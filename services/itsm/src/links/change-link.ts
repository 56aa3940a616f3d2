import type { TenantScope } from '@opsplane/contracts'
import { invalidField } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, sql } from 'drizzle-orm'
import { tenantConditions } from '../lists/tenant-conditions.js'
import { changes } from '../schema/change.js'
import { endedChangeStatuses } from './change-end.js'

/** Throws validation_failed naming /holdReason if an incident would begin to wait for a change that has ended. */
export async function checkChangeAwaited(db: Drizzle, tenant: TenantScope, id: string): Promise<void> {
  const change = await findEndedChange(db, tenant, id)
  if (change === undefined) return
  const message = `Change ${change.number} is over (${change.status}): there is nothing to wait for.`
  throw invalidField('/holdReason', 'change_ended', message)
}

/** Returns `undefined` if the change has not ended or does not exist. */
export async function findEndedChange(db: Drizzle, { workspaceId, environment }: TenantScope, id: string) {
  const ofTenant = [eq(changes.workspaceId, workspaceId), eq(changes.environment, environment)]
  const [row] = await db
    .select({ number: sql<string>`${changes.state}->>'number'`, status: changes.status })
    .from(changes)
    .where(and(...ofTenant, eq(changes.id, id)))
  return endedChangeStatuses.some((status) => status === row?.status) ? row : undefined
}

/** Whether a change with this id exists. */
export async function changeExists(db: Drizzle, tenant: TenantScope, id: string): Promise<boolean> {
  const found = await db
    .select({ id: changes.id })
    .from(changes)
    .where(and(...tenantConditions(changes, tenant), eq(changes.id, id)))
  return found.length > 0
}

/** Throws validation_failed naming `path` if the change named by another record does not exist. */
export async function checkChangeLink(
  db: Drizzle,
  tenant: TenantScope,
  path: string,
  id: string | null | undefined,
): Promise<void> {
  if (id === undefined || id === null || (await changeExists(db, tenant, id))) return
  throw invalidField(path, 'unknown_change', 'There is no such change in this workspace and environment.')
}
