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

/**
 * An export is due until it is written, again when the retention of its file ends, and until all its objects are
 * deleted.
 */
export const dueExports = dueTable({
  table: 'export_jobs',
  key: 'id',
  dueAt: 'due_at',
  waiting: 'due_at is not null',
  fairKey: 'workspace_id',
})

/** The job of an export and its progress. The row is deleted with the last object of the file. */
export const exportJobs = pgTable(
  'export_jobs',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** `write`, `keep` until the retention ends, or `purge`. */
    phase: text('phase').notNull(),
    dueAt: at('due_at'),
    /** The replica writing the file stops at the next part. */
    cancelled: boolean('cancelled').notNull().default(false),
    /** An `Owner`. */
    owner: json('owner').notNull(),
    requestId: text('request_id'),
    /** A `PlannedExport`. */
    plan: json('plan').notNull(),
    /** Cursor after the last part; `null` before the first row. */
    cursor: text('row_cursor'),
    /** The state of the writer after the last part. */
    writer: json('writer'),
    /** Columns and data age, as determined for the first part. */
    opened: json('opened'),
    /** The last part has been written. */
    ended: boolean('ended').notNull().default(false),
    parts: integer('parts').notNull().default(0),
    rows: bigint('row_count', { mode: 'number' }).notNull().default(0),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    ...leaseColumns(),
  },
  (table) => [...dueIndexes(dueExports), index('export_jobs_workspace_idx').on(table.workspaceId)],
)

/** Every object ever uploaded for an export. It is recorded before the upload, so that none is left behind. */
export const exportObjects = pgTable(
  'export_objects',
  {
    name: text('name').primaryKey(),
    exportId: text('export_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    /** Number of the part; `null` for an object that did not become a part. */
    part: integer('part'),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    sha256: text('sha256').notNull(),
  },
  (table) => [
    index('export_objects_export_idx').on(table.exportId, table.part),
    index('export_objects_workspace_idx').on(table.workspaceId),
  ],
)

/** Download URLs that were created. */
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
