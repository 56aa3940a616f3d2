import { index, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'

/** Triggers that started no run, with the reason. */
export const skippedTriggers = pgTable(
  'skipped_triggers',
  {
    workflowId: text('workflow_id').notNull(),
    /** Id of the event, call or scheduled time. */
    triggerId: text('trigger_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    triggerType: text('trigger_type').notNull(),
    triggeredAt: timestamp('triggered_at', { withTimezone: true, precision: 3, mode: 'string' }).notNull(),
    reason: text('reason').notNull(),
  },
  (table) => [
    primaryKey({ name: 'skipped_triggers_pkey', columns: [table.workflowId, table.triggerId] }),
    index('skipped_triggers_time_idx').on(table.workflowId, table.triggeredAt, table.triggerId),
    index('skipped_triggers_tenant_idx').on(table.workspaceId, table.triggeredAt),
  ],
)
