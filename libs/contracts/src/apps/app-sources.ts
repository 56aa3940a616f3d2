import { z } from 'zod'
import { Filter, NewFilter } from '../core/filter.js'
import { pageBounds } from '../core/page-bounds.js'
import { JsonValue } from '../json/json-value.js'
import { recordListBounds } from '../studio/record-list-bounds.js'
import { maxRunWaitSeconds } from '../workflows/runs.js'
import { AppName, appBounds } from './app-names.js'

const Reference = z.string().min(1).max(200)

/** A parameter the browser may send with a request for the source; any other parameter is rejected. */
export const SourceParam = z.strictObject({
  type: z.enum(['text', 'integer', 'decimal', 'boolean', 'date', 'timestamp', 'json']),
  required: z.boolean().default(false),
  maxLength: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: 'Maximum length of a text, in characters.' }),
  enum: z.array(z.string().max(200)).min(1).max(100).optional(),
})
export type SourceParam = z.infer<typeof SourceParam>

export const TableOperation = z.enum(['list', 'get', 'create', 'update', 'delete'])

/**
 * A table of the database studio. `params` are available in `filter`, `search` and `values` as `{{ params.name }}`,
 * as is `{{ user.id }}`.
 */
const TableSource = z.strictObject({
  kind: z.literal('table'),
  table: Reference.meta({ description: 'Slug of the table.' }),
  operations: z.array(TableOperation).min(1).max(5).default(['list']),
  fields: z.array(z.string().min(1).max(63)).min(1).max(200).optional().meta({
    description: 'Columns to read. Default: all.',
  }),
  writable: z.array(z.string().min(1).max(63)).max(200).default([]).meta({
    description: 'Columns that a create or update operation may set. The browser sends them as `values`.',
  }),
  filter: Filter.optional().meta({
    description:
      'Rows that do not match are invisible to every operation. Values may be expressions. The filter does not ' +
      'restrict written values: `writable` and `values` do.',
  }),
  search: Filter.optional().meta({
    description:
      'Additional filter for lists. A condition is omitted if its expression yields nothing. `contains` and ' +
      '`starts_with` ignore case and accents.',
  }),
  values: z
    .record(z.string().min(1).max(63), JsonValue)
    .optional()
    .meta({
      description:
        'Values that the server sets in every create and update operation. They override the values sent by the ' +
        'browser.',
    }),
  sort: z.string().max(500).optional(),
  limit: z.int().min(1).default(50),
})

/** A table source as accepted in requests: limited so that the tables API accepts every read of it. */
const NewTableSource = TableSource.extend({
  fields: TableSource.shape.fields.refine(
    (names) => (names ?? []).join(',').length <= recordListBounds.names,
    `must have at most ${recordListBounds.names} characters, with commas between them`,
  ),
  filter: NewFilter.optional().meta({ description: TableSource.shape.filter.description }),
  search: NewFilter.optional().meta({ description: TableSource.shape.search.description }),
  sort: TableSource.shape.sort.superRefine((sort, context) => {
    const names = (sort ?? '').split(',').map((name) => name.replace(/^-/, ''))
    const refuse = (message: string) => context.addIssue({ code: 'custom', message })
    if (names.length > recordListBounds.sorted) refuse(`must name at most ${recordListBounds.sorted} columns`)
    if (new Set(names).size < names.length) refuse('must not name a column twice')
    if (sort !== undefined && names.some((name) => !/^\S+$/.test(name)))
      refuse('must be names of columns with commas between them, such as -price,name')
  }),
  limit: z.int().min(1).max(pageBounds.items).default(50),
}).superRefine(({ filter = {}, search = {} }, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['search'], message })
  const [one, other] = [filter, search].map(Object.keys)
  // A field in both lists gets one more condition: conditions are combined with AND.
  const clashes = Number(one?.some((name) => other?.includes(name)))
  if ((one?.length ?? 0) + (other?.length ?? 0) + clashes > recordListBounds.conditions)
    refuse(`must have at most ${recordListBounds.conditions} conditions, together with the filter`)
  if (JSON.stringify([filter, search]).length > recordListBounds.filter)
    refuse(
      `must have at most ${recordListBounds.filter} characters, written as JSON together with the filter`,
    )
})

/** A source with side effects must not be called each time a page is shown. */
const Use = z.enum(['data', 'action']).meta({
  description:
    '`data`: called whenever a page shows the source. `action`: called when a user presses a button or submits a ' +
    'form.',
})
const QuerySource = z.strictObject({
  kind: z.literal('query'),
  query: Reference.meta({ description: 'Id or name of a saved query.' }),
  input: z
    .record(z.string(), JsonValue)
    .default({})
    .meta({ description: 'Parameters of the saved query. Values may be expressions.' }),
  use: Use.default('data'),
})
const ConnectorSource = z.strictObject({
  kind: z.literal('connector'),
  connector: Reference.meta({ description: 'Id or name of the connector.' }),
  action: Reference,
  input: z.record(z.string(), JsonValue).default({}),
  use: Use.default('action'),
})
const WorkflowSource = z.strictObject({
  kind: z.literal('workflow'),
  workflow: Reference.meta({ description: 'Id or name of the workflow.' }),
  input: JsonValue.default({}),
  waitSeconds: z.int().min(0).max(maxRunWaitSeconds).default(maxRunWaitSeconds),
  use: Use.default('action'),
})
const ReportSource = z.strictObject({
  kind: z.literal('report'),
  report: Reference.meta({ description: 'Id or name of the report.' }),
  input: z.record(z.string(), JsonValue).default({}),
})

const others = [QuerySource, ConnectorSource, WorkflowSource, ReportSource] as const
const example = { kind: 'query', query: 'Squares', input: {}, use: 'data' } as const

/**
 * Where an app's data comes from and what its users can do with it. Expressions in it run on the server, over
 * `{ params, user: { id, email, name }, embed }`: the browser only sends typed parameters. Bindings stored before the
 * limits of `NewTableSource` existed remain valid.
 */
export const SourceBinding = z
  .discriminatedUnion('kind', [TableSource, ...others])
  .meta({ id: 'SourceBinding', example })
export type SourceBinding = z.infer<typeof SourceBinding>

const maxBytes = 65_536
const NewSourceBinding = z
  .discriminatedUnion('kind', [NewTableSource, ...others])
  .refine(
    (binding) => JSON.stringify(binding).length <= maxBytes,
    `must have at most ${maxBytes} characters, written as JSON`,
  )
  .meta({ id: 'NewSourceBinding', example })

/** The fields of a data source, without those every resource has. */
export const dataSourceFields = {
  name: AppName.meta({ description: 'Name by which pages refer to the data source. Unique in the app.' }),
  binding: SourceBinding,
  params: z
    .record(AppName, SourceParam)
    .refine(
      (params) => Object.keys(params).length <= appBounds.params,
      `must have at most ${appBounds.params} parameters`,
    ),
  result: z
    .string()
    .max(10_000)
    .nullable()
    .meta({
      description:
        'An expression such as `{{ rows[price > 10] }}` over `rows` or `value`, `params`, `user` and `embed`. Its ' +
        'result is sent to the browser.',
    }),
}

const newFields = { ...dataSourceFields, binding: NewSourceBinding }

export const DataSourceInput = z
  .strictObject({
    ...newFields,
    params: dataSourceFields.params.default({}),
    result: dataSourceFields.result.default(null),
  })
  .meta({
    id: 'NewDataSource',
    example: {
      name: 'assets',
      binding: { kind: 'table', table: 'assets', filter: { site: '{{ params.site }}' } },
      params: { site: { type: 'text', required: true } },
    },
  })
export type DataSourceInput = z.infer<typeof DataSourceInput>

export const DataSourcePatch = z
  .strictObject(newFields)
  .partial()
  .meta({ id: 'DataSourcePatch', example: { result: '{{ rows }}' } })
export type DataSourcePatch = z.infer<typeof DataSourcePatch>
