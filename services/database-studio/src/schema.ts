import { dueIndexes, dueTable, leaseColumns } from '@opsplane/postgres'
import {
  bigint,
  customType,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'

export * from './sql/tables.js'

const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

export const dueImports = dueTable({
  table: 'record_imports',
  key: 'id',
  dueAt: 'due_at',
  waiting: "status in ('uploading', 'pending')",
  fairKey: 'workspace_id',
})

/** Files of records on their way into a table. One that is never uploaded whole is given up when it is due. */
export const recordImports = pgTable(
  'record_imports',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    tableSlug: text('table_slug').notNull(),
    format: text('format').notNull(),
    delimiter: text('delimiter').notNull().default(','),
    /** Columns that are unique together, where what is there already is updated. */
    conflictColumns: jsonb('conflict_columns'),
    /** Who imports: the rules of the table that bind them bind their file. */
    principal: jsonb('principal').notNull(),
    requestId: text('request_id'),
    status: text('status').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    /** Batches of it that are committed, and what became of their rows. */
    batches: integer('batches').notNull().default(0),
    bytesDone: bigint('bytes_done', { mode: 'number' }).notNull().default(0),
    written: bigint('written', { mode: 'number' }).notNull().default(0),
    refused: bigint('refused', { mode: 'number' }).notNull().default(0),
    refusedRows: jsonb('refused_rows').notNull().default([]),
    error: text('error'),
    dueAt: at('due_at').notNull(),
    createdAt: at('created_at').notNull(),
    finishedAt: at('finished_at'),
    ...leaseColumns(),
  },
  (table) => [
    ...dueIndexes(dueImports),
    index('record_imports_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/** The file of an import, until it is over. */
export const recordImportParts = pgTable(
  'record_import_parts',
  {
    importId: text('import_id').notNull(),
    part: integer('part').notNull(),
    content: bytes('content').notNull(),
  },
  (table) => [primaryKey({ columns: [table.importId, table.part] })],
)

export { tablePurges } from './table/purge-rows.js'
export { tables } from './table/rows.js'
export { recordValidations } from './validation/tables.js'
