import { z } from 'zod'

const name = /^[a-z][a-z0-9_]{0,58}$/
/** What records, filters and bulk requests call something else, and the columns Postgres gives every table. */
const reservedColumns = [
  ...['id', 'version', 'created_at', 'updated_at', 'table_slug', 'and', 'or', 'not'],
  ...['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'],
]
/** What stands at the place of a slug in a path. */
const reservedSlugs = ['batch', 'trash']

const wellFormed =
  'must be lower-case letters, digits and _, begin with a letter, and have at most 59 characters'

/** Names a table: in paths, on events, and in SQL. */
export const TableSlug = z
  .string()
  .regex(name, wellFormed)
  .refine((slug) => !reservedSlugs.includes(slug), 'is reserved')
  .meta({ example: 'assets' })

/** Names a column: in records, in filters, and in SQL. */
export const ColumnName = z
  .string()
  .regex(name, wellFormed)
  .refine((column) => !reservedColumns.includes(column), 'is reserved')
  .meta({ example: 'serial_number' })

const Expression = z.string().trim().min(1).max(2_000).meta({
  description: 'SQL over the columns of the row, of operators and functions whose value never changes.',
})

/** What a column has where a record says nothing: a value as records have it, or an expression. */
export const ColumnDefault = z
  .union([
    z.string().max(10_000),
    z.number(),
    z.boolean(),
    z.strictObject({ expression: Expression }),
    z.strictObject({ json: z.unknown() }),
  ])
  .meta({ id: 'ColumnDefault' })
export type ColumnDefault = z.infer<typeof ColumnDefault>

export const OnDelete = z.enum(['restrict', 'set_null', 'cascade'])
export type OnDelete = z.infer<typeof OnDelete>

/** Types a computed column may have. */
export const ResultType = z.enum(['text', 'integer', 'bigint', 'decimal', 'boolean', 'date', 'json', 'uuid'])
export type ResultType = z.infer<typeof ResultType>

const Description = z.string().trim().max(500)
const maxPrecision = 1_000

const common = {
  name: ColumnName,
  nullable: z.boolean().default(true),
  unique: z.boolean().default(false),
  default: ColumnDefault.nullable().default(null),
  description: Description.default(''),
}

const EnumValues = z
  .array(z.string().min(1).max(200))
  .min(1)
  .max(200)
  .refine((values) => new Set(values).size === values.length, 'must not name a value twice')

/** A column as it is declared; what is left out has its default. */
export const Column = z
  .discriminatedUnion('type', [
    z.strictObject({
      ...common,
      type: z.literal('text'),
      maxLength: z.int().min(1).max(1_000_000).nullable().default(null),
    }),
    z.strictObject({ ...common, type: z.literal('integer') }),
    z.strictObject({ ...common, type: z.literal('bigint') }),
    z.strictObject({
      ...common,
      type: z.literal('decimal'),
      precision: z.int().min(1).max(maxPrecision).nullable().default(null),
      scale: z.int().min(0).max(maxPrecision).nullable().default(null),
    }),
    z.strictObject({ ...common, type: z.literal('boolean') }),
    z.strictObject({ ...common, type: z.literal('date') }),
    z.strictObject({ ...common, type: z.literal('timestamp') }),
    z.strictObject({ ...common, type: z.literal('json') }),
    z.strictObject({ ...common, type: z.literal('uuid') }),
    z.strictObject({ ...common, type: z.literal('enum'), values: EnumValues }),
    z.strictObject({
      ...common,
      type: z.literal('reference'),
      table: TableSlug.meta({ description: 'Slug of the table whose records are referred to.' }),
      onDelete: OnDelete.default('restrict'),
    }),
    z.strictObject({
      ...common,
      type: z.literal('computed'),
      expression: Expression,
      resultType: ResultType,
    }),
  ])
  .meta({ id: 'Column', example: { name: 'serial_number', type: 'text', nullable: false, unique: true } })
export type Column = z.infer<typeof Column>
export type ColumnType = Column['type']

/** The base columns of every table, as SQL has them, with what records call them. */
export const baseColumns = {
  id: 'id',
  version: 'version',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
} as const
