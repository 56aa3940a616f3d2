import type { TenantScope } from '@opsplane/contracts'
import type { SQL } from 'drizzle-orm'
import { eq } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

export function tenantConditions(
  table: { workspaceId: PgColumn; environment: PgColumn },
  tenant: TenantScope,
): SQL[] {
  return [eq(table.workspaceId, tenant.workspaceId), eq(table.environment, tenant.environment)]
}
