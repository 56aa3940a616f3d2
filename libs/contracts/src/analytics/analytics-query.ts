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
  description: 'Each row then covers one of these by the clock of the zone; weeks begin on Monday.',
})
export type Grain = z.infer<typeof Grain>

const FixedRange = z
  .strictObject({
    from: MomentOrDay.meta({
      description: 'The first instant that counts. A date is when that day begins by the clock of the zone.',
    }),
    to: MomentOrDay.meta({
      description: 'The first instant that no longer counts, or the first date.',
    }),
  })
  .refine(({ from, to }) => from !== to && !isLater(from, to), {
    path: ['to'],
    error: 'must be later than from',
  })
const LastRange = z.strictObject({
  last: z.int().min(1).max(1_000).meta({ description: 'How many, the one that goes on now included.' }),
  unit: z.enum(['hour', 'day', 'week', 'month', 'quarter', 'year']),
})

/** Time range of a query: from and to as instants or dates, or the last n units in the query's time zone. */
export const QueryRange = z.union([FixedRange, LastRange])
export type QueryRange = z.infer<typeof QueryRange>

export const defaultRange: QueryRange = { last: 30, unit: 'day' }

const queryFields = {
  dataset: Name.optional().meta({ description: 'One of `GET /analytics/datasets`.' }),
  table: Name.optional().meta({
    description:
      'Instead: slug of a table of the database studio, read with the rights of the person who runs the query.',
  }),
  savedQuery: Name.optional().meta({ description: 'Instead: id of a saved query of the database studio.' }),
  parameters: z
    .record(Name, JsonValue)
    .default({})
    .meta({ description: 'Of the saved query; `{{ params.name }}` in a report.' }),
  measures: z.array(Name).max(20).default([]).meta({
    description:
      'Of a dataset those it declares. Of tables and saved queries `count`, and `sum:`, `avg:`, `min:`, `max:`, `distinct:`, `p50:`, `p90:`, `p95:` or `p99:` with a column.',
  }),
  dimensions: z
    .array(Name)
    .max(5)
    .default([])
    .refine((names) => new Set(names).size === names.length, 'must not repeat')
    .meta({ description: 'What rows are distinguished by: declared ones of a dataset, else columns.' }),
  filters: NewFilter.default({}).meta({
    description: 'Conditions on dimensions, or columns. A value may be `{{ params.name }}` in a report.',
  }),
  grain: Grain.optional(),
  timeField: Name.optional().meta({
    description:
      'What instant of a fact counts: the first one of its dataset unless given. Of tables and saved queries a column, which a grain and a range need.',
  }),
  timeZone: TimeZoneName.default('UTC'),
  range: QueryRange.optional().meta({ description: 'The last 30 days of a dataset unless given.' }),
  comparePrevious: z.boolean().default(false).meta({
    description: 'Also answers the period just before, of the same length.',
  }),
  sort: z.string().max(101).optional().meta({
    description: 'Name of a column, `-` in front for descending. By time and dimensions unless given.',
  }),
  limit: z.int().min(1).max(10_000).default(1_000).meta({ description: 'Rows that are answered at most.' }),
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
    columns: z.array(Name).min(1).max(100).optional().meta({ description: 'All without.' }),
    filters: Filter.default({}).meta({ description: 'Conditions on columns.' }),
    range: QueryRange.optional().meta({ description: 'All facts without.' }),
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
    '`bigint` and `decimal` are texts of digits, as in records; `timestamp` is an instant in UTC; `date`, `time` and `local_timestamp` are those of a clock.',
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
      'A number; one that a double would change is a text of its digits, as decimals of records are.',
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
        'Values by column; `time` is when the span of the row begins. Spans without facts have no row. Measures are exact: one that a double would change is a text of its digits.',
    }),
    truncated: z.boolean().meta({ description: 'Whether `limit` left rows out.' }),
    totals: Row.nullable().meta({
      description: 'The measures over everything that counts, also what `limit` left out.',
    }),
    range: QueriedRange.nullable(),
    comparison: z
      .object({ range: QueriedRange, rows: z.array(Row), totals: Row.nullable() })
      .optional()
      .meta({ description: 'The period before, with `comparePrevious`.' }),
    dataAsOf: At.meta({ description: 'Everything that happened until then is counted.' }),
    dataVersion: z.string().meta({ description: 'Changes with what is counted; opaque.' }),
  })
  .meta({ id: 'QueryAnswer' })
export type QueryAnswer = z.infer<typeof QueryAnswer>
