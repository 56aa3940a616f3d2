import { readModelTable } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

export { scheduleFires, schedules } from '@opsplane/postgres'
export { exportJobs, exportLinks, exportObjects, exports } from './export/tables.js'
export * from './fact/tables.js'
export { kpiEvaluations, kpiPoints, kpiStandings, kpis } from './kpi/tables.js'

export const reports = readModelTable('reports', {}, (table) => [
  index('reports_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])

export const dashboards = readModelTable('dashboards', {}, (table) => [
  index('dashboards_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])
