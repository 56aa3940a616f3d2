import { json, pgTable, primaryKey, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'
import { dueIndexes, dueTable, retryColumns } from '../due-work/index.js'

export const dueSchedules = dueTable({
  table: 'schedules',
  key: 'id',
  dueAt: 'planned_at',
  waiting: 'paused_at is null and planned_at is not null',
  fairKey: 'workspace_id',
})

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'string' })

/** Tables of every service with schedules: exported from its `schema.ts`, they become part of its next migration. */
export const schedules = pgTable(
  'schedules',
  {
    id: text('id').primaryKey(),
    ownerKind: text('owner_kind').notNull(),
    ownerId: text('owner_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** The Schedule as it was passed in. */
    spec: json('spec').notNull(),
    /** Start of the interval if the schedule has none. */
    anchoredAt: instant('anchored_at').notNull(),
    /** The first time that is not decided yet; `null` if there is none. */
    plannedAt: instant('planned_at'),
    lastFiredAt: instant('last_fired_at'),
    pausedAt: instant('paused_at'),
    ...retryColumns(),
  },
  (table) => [
    ...dueIndexes(dueSchedules),
    uniqueIndex('schedules_owner_idx').on(table.ownerKind, table.ownerId),
  ],
)

/** The decision about each time, so that nothing is started for it twice. */
export const scheduleFires = pgTable(
  'schedule_fires',
  {
    scheduleId: text('schedule_id')
      .notNull()
      .references(() => schedules.id, { onDelete: 'cascade' }),
    fireAt: instant('fire_at').notNull(),
    decidedAt: instant('decided_at').notNull(),
    /** `start`, `queue`, `replace`, or `skip` if earlier work was still running. */
    begun: text('begun').notNull(),
  },
  (table) => [primaryKey({ columns: [table.scheduleId, table.fireAt] })],
)
