import { sql } from 'drizzle-orm'
import {
  type ExtraConfigColumn,
  index,
  integer,
  json,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { type DueTable, dueIndexes, dueTable, leaseColumns } from '../due-work/index.js'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** The due work of one service's group retries: those with a step to execute. */
export const dueGroupRetries = (table: string): DueTable =>
  dueTable({
    table,
    key: 'id',
    dueAt: 'due_at',
    waiting: "status = 'running'",
    fairKey: 'workspace_id',
  })

/** The columns common to all tables of group retries: the selection, and the progress. */
export const groupRetryColumns = (names: { target: string; last: string }) => ({
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  environment: text('environment').notNull(),
  targetId: text(names.target).notNull(),
  cause: text('cause').notNull(),
  status: text('status').notNull().default('running'),
  total: integer('total').notNull(),
  retried: integer('retried').notNull().default(0),
  refused: integer('refused').notNull().default(0),
  /** The last item of the completed steps; the job resumes after it. */
  lastId: text(names.last).notNull().default(''),
  /** The items of the step in progress: after a crash, those that are no longer failed count as retried. */
  stepIds: json('step_ids').$type<string[]>(),
  requestId: text('request_id').notNull(),
  dueAt: instant('due_at').notNull(),
  createdAt: instant('created_at').notNull(),
  finishedAt: instant('finished_at'),
  ...leaseColumns(),
})

const sample = (name: string) => pgTable(name, groupRetryColumns({ target: '', last: '' }))
/** A table with at least these columns. */
export type GroupRetryTable = ReturnType<typeof sample>

/** At most one retry of a group runs at a time. */
export const groupRetryIndexes = (
  due: DueTable,
  table: Record<'targetId' | 'cause' | 'workspaceId' | 'environment' | 'id', ExtraConfigColumn>,
) => [
  uniqueIndex(`${due.table}_running_key`).on(table.targetId, table.cause).where(sql`status = 'running'`),
  index(`${due.table}_list_idx`).on(table.workspaceId, table.environment, table.id),
  ...dueIndexes(due),
]
