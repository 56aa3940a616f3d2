import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { TimeZoneName } from '../core/time-zone.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { JsonValue } from '../json/json-value.js'
import { AnalyticsQuery, QueryAnswer, QueryRange, ResultColumnType } from './analytics-query.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)
const Description = z.string().trim().max(2_000)
const Key = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,62}$/, 'must be a letter, followed by letters, digits and _')

/** Measures, dimensions and fields available for one kind of fact. */
export const AnalyticsDataset = z
  .object({
    name: z.string(),
    label: z.string(),
    description: z.string(),
    permission: z.string().meta({ description: 'Permission required to query the dataset.' }),
    dimensions: z.array(z.object({ name: z.string(), label: z.string(), type: ResultColumnType })),
    measures: z.array(
      z.object({
        name: z.string(),
        label: z.string(),
        description: z.string(),
        kind: z.enum(['count', 'sum', 'average', 'share', 'distinct', 'percentile']),
        format: z.enum(['plain', 'percent', 'duration_ms']),
        approximate: z.boolean().meta({
          description:
            'Whether the values are approximate: percentiles are accurate to within 1 %, distinct counts to about 2 %.',
        }),
      }),
    ),
    timeFields: z
      .array(z.string())
      .meta({ description: 'Instants by which a fact can be counted. The first one is the default.' }),
    columns: z
      .array(z.object({ name: z.string(), label: z.string(), type: ResultColumnType }))
      .meta({ description: 'Columns of a fact. Filters and exports can refer to each of them.' }),
  })
  .meta({ id: 'AnalyticsDataset' })
export type AnalyticsDataset = z.infer<typeof AnalyticsDataset>

/** A parameter of a report. */
export const ReportParameter = z
  .strictObject({
    name: Key,
    type: z.enum(['text', 'number', 'boolean']).default('text'),
    required: z.boolean().default(true),
    default: z.union([z.string().max(1_000), z.number(), z.boolean()]).optional(),
    description: Description.default(''),
  })
  .meta({ id: 'ReportParameter' })
export type ReportParameter = z.infer<typeof ReportParameter>

const reportFields = {
  name: Name,
  description: Description,
  query: AnalyticsQuery,
  parameters: z
    .array(ReportParameter)
    .max(50)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have different names')
    .meta({
      description:
        'Parameters of the report. A filter value, or a parameter of a saved query, may be `{{ params.name }}`.',
    }),
}

/** A report as contained in events. */
export const ReportState = z.object({
  id: idSchema('report'),
  ...reportFields,
  ownerId: z.string().meta({ description: 'The user who created the report.' }),
  createdAt: At,
  updatedAt: At,
})
export type ReportState = z.infer<typeof ReportState>

export const Report = ReportState.extend({ version: z.int().min(1) }).meta({ id: 'Report' })
export type Report = z.infer<typeof Report>

const reportExample = {
  name: 'Time to resolve by team',
  query: {
    dataset: 'incidents',
    measures: ['incidents', 'p90_time_to_resolve'],
    dimensions: ['assignmentGroup'],
    filters: { severity: '{{ params.severity }}' },
    grain: 'week',
    timeZone: 'Europe/Berlin',
    range: { last: 3, unit: 'month' },
  },
  parameters: [{ name: 'severity', type: 'text', required: false, default: 'critical' }],
}

export const NewReport = z
  .strictObject({
    ...reportFields,
    description: Description.default(''),
    parameters: reportFields.parameters.default([]),
  })
  .meta({ id: 'NewReport', example: reportExample })
export type NewReport = z.infer<typeof NewReport>

export const ReportPatch = z
  .strictObject(reportFields)
  .partial()
  .meta({ id: 'ReportPatch', example: { name: 'Time to resolve' } })

const ParameterValues = z.record(Key, JsonValue).default({})

export const RunReport = z
  .strictObject({
    parameters: ParameterValues,
    range: QueryRange.optional().meta({
      description:
        'Replaces the range of the report. Likewise, `timeZone` and `limit` replace those of the report.',
    }),
    timeZone: TimeZoneName.optional(),
    limit: z.int().min(1).max(10_000).optional(),
  })
  .meta({ id: 'RunReport', example: { parameters: { severity: 'high' }, range: { last: 7, unit: 'day' } } })
export type RunReport = z.infer<typeof RunReport>

const dashboardKinds = ['metric', 'line', 'area', 'bar', 'pie', 'table'] as const

const WidgetFields = {
  id: Key.meta({ description: 'Unique in the dashboard.' }),
  title: Name,
  kind: z.enum(dashboardKinds),
  width: z.int().min(1).max(12).default(6).meta({ description: 'Width in columns of a grid of twelve.' }),
  query: AnalyticsQuery.optional().meta({
    description: 'Query of the widget. Exactly one of `query` and `report` is required.',
  }),
  report: idSchema('report').optional(),
  parameters: ParameterValues.meta({ description: 'Parameters of the report.' }),
}

/** One figure, chart or table of a dashboard. */
export const Widget = z
  .strictObject(WidgetFields)
  .superRefine(({ query, report }, { addIssue }) => {
    if ((query === undefined) === (report === undefined))
      addIssue({ code: 'custom', path: ['query'], message: 'is required, or report is' })
  })
  .meta({
    id: 'DashboardWidget',
    example: {
      ...{ id: 'open', title: 'Open incidents', kind: 'metric', width: 3 },
      query: { dataset: 'incidents', measures: ['open'] },
    },
  })
export type Widget = z.infer<typeof Widget>

const dashboardFields = {
  name: Name,
  description: Description,
  widgets: z
    .array(Widget)
    .max(30)
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'must have different ids'),
}

export const DashboardState = z.object({
  id: idSchema('dashboard'),
  ...dashboardFields,
  ownerId: z.string(),
  createdAt: At,
  updatedAt: At,
})
export type DashboardState = z.infer<typeof DashboardState>

export const Dashboard = z
  .object({
    id: z.string().meta({
      description: 'Id of the dashboard. For a built-in dashboard, its name, such as `service-desk`.',
    }),
    ...dashboardFields,
    builtIn: z.boolean().meta({
      description:
        'Whether the dashboard is built in. Built-in dashboards exist in every workspace and cannot be changed.',
    }),
    ownerId: z.string().nullable(),
    createdAt: At.nullable(),
    updatedAt: At.nullable(),
    version: z.int().min(1),
  })
  .meta({ id: 'Dashboard' })
export type Dashboard = z.infer<typeof Dashboard>

export const NewDashboard = z
  .strictObject({
    ...dashboardFields,
    description: Description.default(''),
    widgets: dashboardFields.widgets.default([]),
  })
  .meta({
    id: 'NewDashboard',
    example: {
      name: 'My team',
      widgets: [
        {
          id: 'open',
          title: 'Open incidents',
          kind: 'metric',
          query: { dataset: 'incidents', measures: ['open'], filters: { assignmentGroup: 'payments' } },
        },
      ],
    },
  })
export type NewDashboard = z.infer<typeof NewDashboard>

export const DashboardPatch = z
  .strictObject(dashboardFields)
  .partial()
  .meta({ id: 'DashboardPatch', example: { name: 'Our team' } })

const WidgetError = z.object({ code: z.string(), message: z.string(), retryable: z.boolean() })

/** Data of all widgets of a dashboard. Each widget has its own error, so one failure does not fail the others. */
export const DashboardData = z
  .object({
    dashboardId: z.string(),
    widgets: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        kind: z.enum(dashboardKinds),
        width: z.int(),
        answer: z.object(QueryAnswer.shape).nullable(),
        error: WidgetError.nullable(),
      }),
    ),
    since: z
      .string()
      .meta({ description: 'Pass this value as `since` in the next request to wait for newer data.' }),
    dataAsOf: At,
  })
  .meta({ id: 'DashboardData' })
export type DashboardData = z.infer<typeof DashboardData>

export const DashboardDataQuery = z.object({
  since: z
    .string()
    .max(200)
    .optional()
    .meta({
      description:
        'The `since` value of an earlier response. The request waits until newer data is available or `timeout` has ' +
        'elapsed.',
    }),
  timeout: z.coerce.number().int().min(0).max(20_000).default(20_000).meta({
    description: 'Maximum wait in milliseconds with `since`. Afterwards, the current data is returned.',
  }),
})

const reportEvent = (description: string) => resourceEvent(ReportState, description)
const dashboardEvent = (description: string) => resourceEvent(DashboardState, description)

export const analyticsEvents = {
  'report.created': reportEvent('A report was made.'),
  'report.updated': reportEvent('A report was changed.'),
  'report.deleted': reportEvent('A report was deleted.'),
  'dashboard.created': dashboardEvent('A dashboard was made.'),
  'dashboard.updated': dashboardEvent('A dashboard was changed.'),
  'dashboard.deleted': dashboardEvent('A dashboard was deleted.'),
} satisfies Record<string, EventDefinition>
