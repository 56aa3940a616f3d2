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

/** Imports of record files into a table. An import whose upload is not completed is abandoned when it is due. */
export const recordImports = pgTable(
  'record_imports',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    tableSlug: text('table_slug').notNull(),
    format: text('format').notNull(),
    delimiter: text('delimiter').notNull().default(','),
    /** A combination of unique columns; records that already exist by them are updated. */
    conflictColumns: jsonb('conflict_columns'),
    /** The importing principal; the row rules of the table that apply to it apply to the file. */
    principal: jsonb('principal').notNull(),
    requestId: text('request_id'),
    status: text('status').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    /** Number of committed batches, and the outcome of their rows. */
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

/** The file of an import, kept until the import ends. */
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
