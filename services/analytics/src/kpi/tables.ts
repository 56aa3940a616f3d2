import { dueIndexes, dueTable, leaseColumns, readModelTable } from '@opsplane/postgres'
import {
  boolean,
  doublePrecision,
  index,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

export const kpis = readModelTable('kpis', {}, (table) => [
  index('kpis_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])

/** Measured values. Later changes to the KPI do not alter them. */
export const kpiPoints = pgTable(
  'kpi_points',
  {
    kpiId: text('kpi_id').notNull(),
    at: instant('at').notNull(),
    from: instant('covers_from').notNull(),
    to: instant('covers_to').notNull(),
    timeZone: text('time_zone').notNull(),
    /** Doubles for the previous version, which does not know the exact values. */
    value: doublePrecision('value'),
    target: doublePrecision('target'),
    exactValue: numeric('exact_value'),
    exactTarget: numeric('exact_target'),
    status: text('status').notNull(),
    measuredAt: instant('measured_at').notNull(),
    backfilled: boolean('backfilled').notNull(),
  },
  (table) => [primaryKey({ name: 'kpi_points_pkey', columns: [table.kpiId, table.at] })],
)

/** Last known status of a KPI, from the latest value that had a target. */
export const kpiStandings = pgTable('kpi_standings', {
  kpiId: text('kpi_id').primaryKey(),
  status: text('status'),
  /** The time of that value. */
  at: instant('at'),
  /** Why the last measurement failed. */
  error: text('error'),
})

export const dueEvaluations = dueTable({
  table: 'kpi_evaluations',
  key: 'id',
  dueAt: 'due_at',
  waiting: 'due_at is not null',
  fairKey: 'workspace_id',
})

/** Times at which a KPI is to be measured. */
export const kpiEvaluations = pgTable(
  'kpi_evaluations',
  {
    id: text('id').primaryKey(),
    kpiId: text('kpi_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    at: instant('at').notNull(),
    /** Backfilled times are measured in any order, without events. */
    backfill: boolean('backfill').notNull(),
    /** Replaces existing values. */
    replace: boolean('replace').notNull(),
    dueAt: instant('due_at'),
    ...leaseColumns(),
  },
  (table) => [
    ...dueIndexes(dueEvaluations),
    uniqueIndex('kpi_evaluations_kpi_idx').on(table.kpiId, table.backfill, table.at),
  ],
)
