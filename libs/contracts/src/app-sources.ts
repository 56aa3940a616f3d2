import { z } from 'zod'
import { Filter } from './filter.js'

const Name = z.string().regex(/^[a-z][a-zA-Z0-9_]{0,49}$/, 'must be a name such as openOrders')
const Reference = z.string().min(1).max(200)

/** What the browser may send with a request for the source; everything else is refused. */
export const SourceParam = z.strictObject({
  type: z.enum(['text', 'integer', 'decimal', 'boolean', 'date', 'timestamp', 'json']),
  required: z.boolean().default(false),
  maxLength: z.int().min(1).max(100_000).optional().meta({ description: 'Of a text, in characters.' }),
  enum: z.array(z.string().max(200)).min(1).max(100).optional(),
})
export type SourceParam = z.infer<typeof SourceParam>

export const TableOperation = z.enum(['list', 'get', 'create', 'update', 'delete'])

/** A table of the database studio. `params` are seen in `filter` and `values` as `{{ params.name }}`, `{{ user.id }}` too. */
const TableSource = z.strictObject({
  kind: z.literal('table'),
  table: Reference.meta({ description: 'Its slug.' }),
  operations: z.array(TableOperation).min(1).max(5).default(['list']),
  fields: z.array(z.string().min(1).max(63)).min(1).max(200).optional().meta({
    description: 'Columns that are read; all without.',
  }),
  writable: z
    .array(z.string().min(1).max(63))
    .max(200)
    .default([])
    .meta({ description: 'Columns that a create or an update may set; the browser sends them as `values`.' }),
  filter: Filter.optional().meta({ description: 'Added to every operation; values may be expressions.' }),
  values: z
    .record(z.string(), z.json())
    .optional()
    .meta({ description: 'Set by the server in every create and update, over what the browser sends.' }),
  sort: z.string().max(500).optional(),
  limit: z.int().min(1).max(500).default(50),
})

const QuerySource = z.strictObject({
  kind: z.literal('query'),
  query: Reference.meta({ description: 'Id or name of a saved query.' }),
  input: z
    .record(z.string(), z.json())
    .default({})
    .meta({ description: 'Its parameters; values may be expressions.' }),
})
const ConnectorSource = z.strictObject({
  kind: z.literal('connector'),
  connector: Reference.meta({ description: 'Id or name.' }),
  action: Reference,
  input: z.record(z.string(), z.json()).default({}),
})
const WorkflowSource = z.strictObject({
  kind: z.literal('workflow'),
  workflow: Reference.meta({ description: 'Id or name.' }),
  input: z.json().default({}),
  waitSeconds: z.int().min(0).max(20).default(20),
})
const ReportSource = z.strictObject({
  kind: z.literal('report'),
  report: Reference.meta({ description: 'Id or name.' }),
  input: z.record(z.string(), z.json()).default({}),
})

/**
 * Where an app's data comes from and what its users can do with it. Expressions in it run on the server, over
 * `{ params, user: { id, email, name }, embed }`: the browser sends typed parameters alone.
 */
export const SourceBinding = z
  .discriminatedUnion('kind', [TableSource, QuerySource, ConnectorSource, WorkflowSource, ReportSource])
  .meta({ id: 'SourceBinding' })
export type SourceBinding = z.infer<typeof SourceBinding>

export const DataSourceInput = z.strictObject({
  name: Name.meta({ description: 'How pages name it. Unique in the app.' }),
  binding: SourceBinding,
  params: z.record(Name, SourceParam).default({}),
  result: z
    .string()
    .max(10_000)
    .optional()
    .meta({ description: 'A JSONata expression over what came; what it gives is what the browser gets.' }),
})
export type DataSourceInput = z.infer<typeof DataSourceInput>
