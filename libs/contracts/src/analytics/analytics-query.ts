import { z } from 'zod'
import { Filter, NewFilter } from '../core/filter.js'
import { isLater, MomentOrDay } from '../core/moment.js'
import { TimeZoneName } from '../core/time-zone.js'
import { JsonValue } from '../json/json-value.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().min(1).max(100)

/** Time units that rows are grouped by, in the query's time zone. */
export const grains = ['quarter_hour', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const
export const Grain = z.enum(grains).meta({
  description: 'Time span that each row covers, in the time zone of the query. Weeks begin on Monday.',
})
export type Grain = z.infer<typeof Grain>

const FixedRange = z
  .strictObject({
    from: MomentOrDay.meta({
      description:
        'Start of the range, inclusive. A date stands for the beginning of that day in the time zone of the query.',
    }),
    to: MomentOrDay.meta({
      description:
        'End of the range, exclusive. A date stands for the beginning of that day in the time zone of the query.',
    }),
  })
  .refine(({ from, to }) => from !== to && !isLater(from, to), {
    path: ['to'],
    error: 'must be later than from',
  })
const LastRange = z.strictObject({
  last: z.int().min(1).max(1_000).meta({ description: 'Number of units, including the current one.' }),
  unit: z.enum(['hour', 'day', 'week', 'month', 'quarter', 'year']),
})

/** Time range of a query: from and to as instants or dates, or the last n units in the query's time zone. */
export const QueryRange = z.union([FixedRange, LastRange])
export type QueryRange = z.infer<typeof QueryRange>

export const defaultRange: QueryRange = { last: 30, unit: 'day' }

const queryFields = {
  dataset: Name.optional().meta({
    description: 'Name of a dataset, as listed by `GET /analytics/datasets`.',
  }),
  table: Name.optional().meta({
    description:
      'Alternative to `dataset`: slug of a table of the database studio, read with the rights of the user who runs ' +
      'the query.',
  }),
  savedQuery: Name.optional().meta({
    description: 'Alternative to `dataset`: id of a saved query of the database studio.',
  }),
  parameters: z
    .record(Name, JsonValue)
    .default({})
    .meta({ description: 'Parameters of the saved query. In a report, a value may be `{{ params.name }}`.' }),
  measures: z
    .array(Name)
    .max(20)
    .default([])
    .meta({
      description:
        'For a dataset, the measures it declares. For tables and saved queries, `count`, or `sum:`, `avg:`, `min:`, ' +
        '`max:`, `distinct:`, `p50:`, `p90:`, `p95:` or `p99:` followed by a column.',
    }),
  dimensions: z
    .array(Name)
    .max(5)
    .default([])
    .refine((names) => new Set(names).size === names.length, 'must not repeat')
    .meta({
      description:
        'Fields by which rows are grouped: declared dimensions of a dataset, or columns of a table or saved query.',
    }),
  filters: NewFilter.default({}).meta({
    description: 'Conditions on dimensions or columns. In a report, a value may be `{{ params.name }}`.',
  }),
  grain: Grain.optional(),
  timeField: Name.optional().meta({
    description:
      'Instant of a fact by which it is counted. Default: the first time field of the dataset. For tables and ' +
      'saved queries, a column; required with a grain or a range.',
  }),
  timeZone: TimeZoneName.default('UTC'),
  range: QueryRange.optional().meta({ description: 'Default for datasets: the last 30 days.' }),
  comparePrevious: z.boolean().default(false).meta({
    description: 'Also returns the immediately preceding period of the same length.',
  }),
  sort: z.string().max(101).optional().meta({
    description:
      'Name of a column, with a leading `-` for descending order. Default: by time and dimensions.',
  }),
  limit: z.int().min(1).max(10_000).default(1_000).meta({ description: 'Maximum number of rows returned.' }),
}

/** A query against a dataset, a table or a saved query. */
export const AnalyticsQuery = z
  .strictObject(queryFields)
  .superRefine(({ dataset, table, savedQuery, measures }, { addIssue }) => {
    const named = [dataset, table, savedQuery].filter((name) => name !== undefined).length
    if (named !== 1)
      addIssue({
        code: 'custom',
        path: ['dataset'],
        message: 'one of dataset, table and savedQuery is needed',
      })
    if (savedQuery === undefined && measures.length === 0)
      addIssue({ code: 'custom', path: ['measures'], message: 'must name at least one' })
    if (new Set(measures).size < measures.length)
      addIssue({ code: 'custom', path: ['measures'], message: 'must not repeat' })
  })
  .meta({
    id: 'AnalyticsQuery',
    example: {
      dataset: 'incidents',
      measures: ['incidents', 'p90_time_to_resolve'],
      dimensions: ['severity'],
      grain: 'day',
      timeZone: 'Europe/Berlin',
      range: { last: 30, unit: 'day' },
    },
  })
export type AnalyticsQuery = z.infer<typeof AnalyticsQuery>

/** Single facts of a dataset in a stable order, as exported by a dataset export. */
export const FactRowsQuery = z
  .strictObject({
    dataset: Name,
    columns: z
      .array(Name)
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Columns to return. Default: all.' }),
    filters: Filter.default({}).meta({ description: 'Conditions on columns.' }),
    range: QueryRange.optional().meta({ description: 'Default: all facts.' }),
    timeZone: TimeZoneName.default('UTC'),
  })
  .meta({ id: 'FactRowsQuery', example: { dataset: 'incidents', range: { last: 1, unit: 'month' } } })
export type FactRowsQuery = z.infer<typeof FactRowsQuery>

/** A measure over a dataset, as used by KPIs. */
export const MeasureDefinition = z
  .strictObject({
    dataset: Name,
    measure: Name,
    filters: NewFilter.default({}).meta({ description: 'Conditions on dimensions.' }),
  })
  .meta({
    id: 'MeasureDefinition',
    example: { dataset: 'incidents', measure: 'p90_time_to_resolve', filters: { severity: 'critical' } },
  })

const resultColumnTypes = [
  ...(['text', 'integer', 'bigint', 'number', 'decimal', 'boolean'] as const),
  ...(['date', 'time', 'timestamp', 'local_timestamp', 'interval', 'json'] as const),
] as const
export const ResultColumnType = z.enum(resultColumnTypes).meta({
  description:
    '`bigint` and `decimal` are strings of digits, as in records. `timestamp` is an instant in UTC. `date`, ' +
    '`time` and `local_timestamp` are local values without a time zone.',
})
export type ResultColumnType = z.infer<typeof ResultColumnType>

/** Display format of a value: a ratio as percent, milliseconds as a duration. */
export const ColumnFormat = z.enum(['plain', 'percent', 'duration_ms'])
export type ColumnFormat = z.infer<typeof ColumnFormat>

export const ResultColumn = z
  .object({
    name: z.string(),
    label: z.string(),
    type: ResultColumnType,
    format: ColumnFormat,
    role: z.enum(['time', 'dimension', 'measure']),
  })
  .meta({ id: 'ResultColumn' })
export type ResultColumn = z.infer<typeof ResultColumn>

/** A number, or its digits as a string if a double cannot represent it exactly. */
export const Quantity = z
  .union([
    z.number(),
    z.string().regex(/^-?\d{1,1000}(\.\d{1,1000})?$/, 'must be a decimal, such as "12.50"'),
  ])
  // No component id: the OpenAPI document would lose the places where this is nullable.
  .meta({
    description:
      'A number. Values that a double cannot represent exactly are strings of digits, like the decimals of records.',
    example: 2.3,
  })
export type Quantity = z.infer<typeof Quantity>

const Row = z.record(z.string(), JsonValue)
const QueriedRange = z.object({ from: At, to: At })

/** The result of a query. */
export const QueryAnswer = z
  .object({
    columns: z.array(ResultColumn),
    rows: z.array(Row).meta({
      description:
        'Values by column. `time` is the beginning of the time span of the row. Time spans without facts have no ' +
        'row. Measures are exact: values that a double cannot represent exactly are strings of digits.',
    }),
    truncated: z.boolean().meta({ description: 'Whether rows were omitted because of `limit`.' }),
    totals: Row.nullable().meta({
      description:
        'The measures over all matching facts or records, including the rows omitted because of `limit`.',
    }),
    range: QueriedRange.nullable(),
    comparison: z
      .object({ range: QueriedRange, rows: z.array(Row), totals: Row.nullable() })
      .optional()
      .meta({ description: 'The preceding period. Present only with `comparePrevious`.' }),
    dataAsOf: At.meta({ description: 'The result includes everything that happened up to this instant.' }),
    dataVersion: z
      .string()
      .meta({ description: 'Opaque value that changes whenever the underlying data changes.' }),
  })
  .meta({ id: 'QueryAnswer' })
export type QueryAnswer = z.infer<typeof QueryAnswer>
