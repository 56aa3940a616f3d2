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

/** Retries of groups of failures, of one service: those that have a step to make. */
export const dueGroupRetries = (table: string): DueTable =>
  dueTable({
    table,
    key: 'id',
    dueAt: 'due_at',
    waiting: "status = 'running'",
    fairKey: 'workspace_id',
  })

/** What every table of retries of groups has: what is retried, and how far each is. */
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
  /** The last item of the steps that are done; the job resumes behind it. */
  lastId: text(names.last).notNull().default(''),
  /** The items of the step in progress: after a crash, those of them that are not failed any more count as retried. */
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

/** One retry of a group runs at a time. */
export const groupRetryIndexes = (
  due: DueTable,
  table: Record<'targetId' | 'cause' | 'workspaceId' | 'environment' | 'id', ExtraConfigColumn>,
) => [
  uniqueIndex(`${due.table}_running_key`).on(table.targetId, table.cause).where(sql`status = 'running'`),
  index(`${due.table}_list_idx`).on(table.workspaceId, table.environment, table.id),
  ...dueIndexes(due),
]
