import type { Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { MigrationParts } from './migration-service.js'
import { createMigrations } from './migrations.js'
import { migrationRoutes } from './routes.js'
import { settleRunsWork } from './settle.js'

/** Migrations: routes, and the due work that settles interrupted runs. */
export function openMigrations(ctx: ServiceContext, parts: MigrationParts): { routes: Route[] } {
  const service = createMigrations(ctx, parts)
  ctx.dueWork.start(settleRunsWork(service.settling))
  return { routes: migrationRoutes(ctx, parts, service) }
}
