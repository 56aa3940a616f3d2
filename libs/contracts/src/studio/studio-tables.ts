import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { Column, ColumnName, QuotedName, TableSlug } from './studio-columns.js'
import { RowRule } from './studio-records.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)
const Description = z.string().trim().max(2_000)

/** Any column of the table, including the base columns of every table. */
const IndexedColumn = z.union([ColumnName, z.enum(['id', 'version', 'created_at', 'updated_at'])])

const IndexKind = z.enum(['btree', 'trigram', 'fulltext'])

const some = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(16)

/** An existing index, which always has a name. */
export const TableIndex = z
  .strictObject({
    name: QuotedName,
    columns: some(z.strictObject({ name: IndexedColumn, direction: z.enum(['asc', 'desc']).default('asc') })),
    kind: IndexKind.default('btree'),
    unique: z.boolean().default(false),
  })
  .meta({ id: 'TableIndex' })
export type TableIndex = z.infer<typeof TableIndex>

export const TableUnique = z
  .strictObject({ name: QuotedName, columns: some(ColumnName) })
  .meta({ id: 'TableUnique' })

export const TableCheck = z
  .strictObject({ name: QuotedName, expression: z.string().trim().min(1).max(2_000) })
  .meta({ id: 'TableCheck' })

/** Maximum number of each per table. */
export const tableLimits = { columns: 200, indexes: 50, uniques: 50, checks: 50, rules: 50 }

/** The definition of a table, as contained in events. */
export const TableState = z.object({
  id: idSchema('table'),
  slug: TableSlug,
  name: z.string(),
  description: z.string(),
  columns: z.array(Column),
  indexes: z.array(TableIndex),
  uniques: z.array(TableUnique),
  checks: z.array(TableCheck),
  rules: z.array(RowRule),
  /** When a table in the trash is deleted permanently; `null` while it is in use. */
  purgeAt: At.nullable(),
  createdAt: At,
  updatedAt: At,
})
export type TableState = z.infer<typeof TableState>

export const Table = TableState.extend({ version: z.int().min(1) }).meta({ id: 'Table' })
export type Table = z.infer<typeof Table>

/** Named after its columns if no name is given. */
const NewIndex = TableIndex.extend({ name: QuotedName.optional() })
const NewUnique = TableUnique.extend({ name: QuotedName.optional() })

export const NewTable = z
  .strictObject({
    slug: TableSlug,
    name: Name.optional().meta({ description: 'Name of the table. Default: its slug.' }),
    description: Description.default(''),
    columns: z.array(Column).max(tableLimits.columns),
    indexes: z.array(NewIndex).max(tableLimits.indexes).default([]),
    uniques: z.array(NewUnique).max(tableLimits.uniques).default([]),
    checks: z.array(TableCheck).max(tableLimits.checks).default([]),
    rules: z.array(RowRule).max(tableLimits.rules).default([]),
  })
  .meta({
    id: 'NewTable',
    example: {
      slug: 'assets',
      columns: [
        { name: 'serial_number', type: 'text', nullable: false, unique: true },
        { name: 'price', type: 'decimal', precision: 12, scale: 2 },
      ],
    },
  })
export type NewTable = z.infer<typeof NewTable>

/** A record as contained in events: its columns by name, in addition to these fields. */
const RecordState = z
  .looseObject({
    id: z.string(),
    version: z.int().min(1),
    tableSlug: z.string(),
    createdAt: At,
    updatedAt: At,
  })
  .meta({ id: 'RecordState' })

const tableSlug = { tableSlug: z.string() }

export const studioTableEvents = {
  'table.created': resourceEvent(TableState, 'A table was created.'),
  'table.updated': resourceEvent(TableState, 'The definition of a table changed.'),
  'table.deleted': resourceEvent(
    TableState,
    'A table was dropped with its records. It can be restored until `purgeAt`.',
  ),
  'table.restored': resourceEvent(TableState, 'A dropped table is back with its records.'),
  'table.purged': resourceEvent(TableState, 'A dropped table can be restored no more.'),
  'record.created': resourceEvent(RecordState, 'A record was added to a table, by whatever way.', tableSlug),
  'record.updated': resourceEvent(RecordState, 'A record changed.', tableSlug),
  'record.deleted': resourceEvent(RecordState, 'A record was deleted.', tableSlug),
} satisfies Record<string, EventDefinition>
