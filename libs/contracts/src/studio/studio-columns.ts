import { z } from 'zod'

const slug = /^[a-z][a-z0-9_]{0,58}$/
/**
 * Names with another meaning in records, filters and bulk requests, and the system columns of Postgres tables.
 * `studio.migration_step` rejects the same names.
 */
const reservedColumns = [
  ...['id', 'version', 'created_at', 'updated_at', 'table_slug', 'and', 'or', 'not'],
  ...['createdAt', 'updatedAt', 'tableSlug', '__proto__'],
  ...['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'],
]
/** Path segments used in the place of a slug. */
const reservedSlugs = ['batch', 'trash']

const wellFormed =
  'must be lower-case letters, digits and _, begin with a letter, and have at most 59 characters'

/** Name of a table in paths, events and SQL. */
export const TableSlug = z
  .string()
  .regex(slug, wellFormed)
  .refine((slug) => !reservedSlugs.includes(slug), 'is reserved')
  .meta({ example: 'assets' })

const maxNameBytes = 63
/** `.`, `,` and `-` are syntax in paths, lists of names and sorts; `~` is the prefix of temporary names. */
const quotable = /^[ !#-+/-}\u00a0-\uffff][ !#-+\-/-~\u00a0-\uffff]*$/

/** A name that SQL may have to quote: any script, upper and lower case. */
export const QuotedName = z
  .string()
  .max(maxNameBytes)
  .regex(quotable, 'must not begin with - or ~, and must not contain . , " or control characters')
  .refine(
    (text) => new TextEncoder().encode(text).length <= maxNameBytes,
    `must have at most ${maxNameBytes} bytes`,
  )

/** Name of a column in records, filters and, quoted, SQL. */
export const ColumnName = QuotedName.refine(
  (column) => !reservedColumns.includes(column),
  'is reserved',
).meta({ example: 'serial_number' })

const Expression = z.string().trim().min(1).max(2_000).meta({
  description: 'SQL expression over the columns of the row, with immutable operators and functions only.',
})

/** Value of a column if a record does not set it: a value as in records, or an expression. */
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

const OnDelete = z.enum(['restrict', 'set_null', 'cascade'])

const scalarTypes = [
  ...(['text', 'integer', 'bigint', 'decimal', 'float', 'boolean', 'date', 'time', 'timestamp'] as const),
  ...(['local_timestamp', 'interval', 'uuid'] as const),
] as const

/** Types of single values: array elements and targets of references. */
export const ScalarType = z.enum(scalarTypes)
export type ScalarType = z.infer<typeof ScalarType>

/** Allowed types of computed columns. */
export const ResultType = z.enum([...scalarTypes, 'json'])
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

/** Only migrations create columns with less precision than is usual for their type. */
const secondDigits = z.int().min(0).max(6).optional().meta({
  description:
    'Fractional digits of seconds, for a column that a migration created with fewer digits than usual.',
})

/** A column as declared; omitted properties have their defaults. */
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
      scale: z.int().min(-maxPrecision).max(maxPrecision).nullable().default(null).meta({
        description:
          'Digits after the decimal point. If negative, as many digits before the point are zeros.',
      }),
    }),
    z.strictObject({
      ...common,
      type: z.literal('float'),
      precision: z.literal(24).optional().meta({
        description: 'Binary digits, for a column that a migration created as `real`.',
      }),
    }),
    z.strictObject({ ...common, type: z.literal('boolean') }),
    z.strictObject({ ...common, type: z.literal('date') }),
    z.strictObject({ ...common, type: z.literal('time'), precision: secondDigits }),
    z.strictObject({ ...common, type: z.literal('timestamp'), precision: secondDigits }),
    z.strictObject({ ...common, type: z.literal('local_timestamp'), precision: secondDigits }),
    z.strictObject({ ...common, type: z.literal('interval'), precision: secondDigits }),
    z.strictObject({ ...common, type: z.literal('json') }),
    z.strictObject({ ...common, type: z.literal('uuid') }),
    z.strictObject({ ...common, type: z.literal('enum'), values: EnumValues }),
    z.strictObject({
      ...common,
      type: z.literal('array'),
      items: ScalarType.meta({ description: 'Type of the elements, any of which may be null.' }),
      precision: z.int().min(0).max(maxPrecision).optional().meta({
        description: 'Precision of the elements, as for a column of their type, if a migration declared one.',
      }),
      scale: z
        .int()
        .min(0)
        .max(maxPrecision)
        .optional()
        .meta({ description: 'Scale of the elements, if they are decimals.' }),
    }),
    z.strictObject({
      ...common,
      type: z.literal('reference'),
      table: TableSlug.meta({ description: 'Slug of the table whose records are referenced.' }),
      onDelete: OnDelete.default('restrict'),
      key: z.strictObject({ column: ColumnName, type: ScalarType }).optional().meta({
        description: 'Unique column of the other table that is referenced. Default: its id.',
      }),
    }),
    z.strictObject({
      ...common,
      type: z.literal('computed'),
      expression: Expression,
      resultType: ResultType,
    }),
    z.strictObject({
      ...common,
      type: z.literal('other'),
      sqlType: z.string().min(1).max(500).meta({
        description:
          'Postgres type that only migrations create. Records show its values as JSON; only SQL writes them.',
      }),
    }),
  ])
  .meta({ id: 'Column', example: { name: 'serial_number', type: 'text', nullable: false, unique: true } })
export type Column = z.infer<typeof Column>

/** The base columns of every table: SQL name to record field. */
export const baseColumns = {
  id: 'id',
  version: 'version',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
} as const
