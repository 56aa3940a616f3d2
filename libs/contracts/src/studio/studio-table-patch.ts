import { z } from 'zod'
import { Column, ColumnName, TableSlug } from './studio-columns.js'
import { NewTable, TableCheck } from './studio-tables.js'

const { name, description, indexes, uniques, rules } = NewTable.shape
const few = 50
const Names = z.array(z.string().max(63)).max(few).default([])
const none = { add: [], drop: [] }

/** Changes to a table. */
export const TablePatch = z
  .strictObject({
    slug: TableSlug,
    name: name.unwrap(),
    description: description.unwrap(),
    columns: z
      .strictObject({
        add: z.array(Column).max(few).default([]),
        change: z
          .array(z.strictObject({ name: ColumnName, to: Column }))
          .max(few)
          .default([])
          .meta({
            description:
              'Columns to change. The column `name` receives the definition `to`, which may have another name.',
          }),
        rename: z
          .array(z.strictObject({ name: ColumnName, to: ColumnName }))
          .max(few)
          .default([])
          .meta({
            description:
              'Columns to rename. Their definitions do not change; indexes, checks, computed columns and rules follow.',
          }),
        drop: z.array(ColumnName).max(few).default([]),
      })
      .default({ ...none, change: [], rename: [] }),
    indexes: z.strictObject({ add: indexes, drop: Names }).default(none),
    uniques: z.strictObject({ add: uniques, drop: Names }).default(none),
    checks: z.strictObject({ add: z.array(TableCheck).max(few).default([]), drop: Names }).default(none),
    rules: rules.unwrap(),
    force: z.boolean().default(false).meta({
      description: 'Also allows changes that lose values, or that lock a large table while it is rewritten.',
    }),
  })
  .partial()
  .meta({
    id: 'TablePatch',
    example: { columns: { add: [{ name: 'colour', type: 'enum', values: ['red', 'blue'] }] } },
  })
export type TablePatch = z.infer<typeof TablePatch>
