import { dueIndexes, dueTable, leaseColumns, readModelTable, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, json, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

export const exports = readModelTable('exports', { status: stateText('status', 'status') }, (table) => [
  index('exports_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  index('exports_status_idx').on(
    table.workspaceId,
    table.environment,
    table.status,
    table.createdAt,
    table.id,
  ),
])

/** An export is due while it is to be written, once its file has been kept for its time, and until nothing is left of it. */
export const dueExports = dueTable({
  table: 'export_jobs',
  key: 'id',
  dueAt: 'due_at',
  waiting: 'due_at is not null',
  fairKey: 'workspace_id',
})

/** What is done about an export, and how far that has come. Its row goes with the last object of its file. */
export const exportJobs = pgTable(
  'export_jobs',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** `write`, `keep` until its time is over, or `purge`. */
    phase: text('phase').notNull(),
    dueAt: at('due_at'),
    /** The replica that writes it stops with the next part. */
    cancelled: boolean('cancelled').notNull().default(false),
    /** An ExportOwner. */
    owner: json('owner').notNull(),
    requestId: text('request_id'),
    /** A PlannedExport. */
    plan: json('plan').notNull(),
    /** Where the rows after the last part begin; null at their beginning. */
    cursor: text('row_cursor'),
    /** The state of the writer after the last part. */
    writer: json('writer'),
    /** Columns and age of the data, as they were at the first part. */
    opened: json('opened'),
    /** The last part is there. */
    ended: boolean('ended').notNull().default(false),
    parts: integer('parts').notNull().default(0),
    rows: bigint('row_count', { mode: 'number' }).notNull().default(0),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    ...leaseColumns(),
  },
  (table) => [...dueIndexes(dueExports), index('export_jobs_workspace_idx').on(table.workspaceId)],
)

/** Every object that was ever put for an export, noted before it is: so none is left behind. */
export const exportObjects = pgTable(
  'export_objects',
  {
    name: text('name').primaryKey(),
    exportId: text('export_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    /** Of the file; null for one that has come to nothing. */
    part: integer('part'),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    sha256: text('sha256').notNull(),
  },
  (table) => [
    index('export_objects_export_idx').on(table.exportId, table.part),
    index('export_objects_workspace_idx').on(table.workspaceId),
  ],
)

/** URLs that were given out. */
export const exportLinks = pgTable(
  'export_links',
  {
    id: text('id').primaryKey(),
    exportId: text('export_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: at('created_at').notNull(),
    expiresAt: at('expires_at').notNull(),
    revokedAt: at('revoked_at'),
    downloads: integer('downloads').notNull().default(0),
    lastUsedAt: at('last_used_at'),
  },
  (table) => [
    index('export_links_export_idx').on(table.exportId, table.id),
    index('export_links_creator_idx').on(table.workspaceId, table.createdBy).where(sql`revoked_at is null`),
  ],
)
