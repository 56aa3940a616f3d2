import { type AnalyticsQuery, type Dashboard, NewDashboard, type Widget } from '@opsplane/contracts'

type Query = Partial<AnalyticsQuery>
type NewWidget = Pick<Widget, 'id' | 'title' | 'kind' | 'width'> & { query: Query }

const month = { last: 30, unit: 'day' } as const
const ever = { last: 10, unit: 'year' } as const

/** Builds widgets for one dataset. Activity widgets cover the last 30 days unless the query sets another range. */
function widgetsOf(dataset: string) {
  const metric = (width: number, id: string, title: string, measures: string[], query: Query): NewWidget => ({
    ...{ id, title, kind: 'metric', width },
    query: { dataset, measures, range: month, ...query },
  })
  return {
    /** A single figure over all time. */
    total: (width: number, id: string, title: string, measure: string) =>
      metric(width, id, title, [measure], { range: ever }),
    /** A single figure, compared with the previous period of the same length. */
    recent: (width: number, id: string, title: string, measures: string[], query: Query = {}) =>
      metric(width, id, title, measures, { comparePrevious: true, ...query }),
    byDay: (
      [kind, width]: [Widget['kind'], number],
      id: string,
      title: string,
      measures: string[],
      query: Query = {},
    ): NewWidget => ({
      ...{ id, title, kind, width },
      query: { dataset, measures, grain: 'day', range: month, ...query },
    }),
    by: (
      dimensions: string[],
      kind: Widget['kind'],
      id: string,
      title: string,
      measures: string[],
      query: Query = {},
    ): NewWidget => ({
      ...{ id, title, kind, width: 6 },
      query: { dataset, measures, dimensions, range: month, ...query },
    }),
  }
}

const incidents = widgetsOf('incidents')
const changes = widgetsOf('changes')
const clocks = widgetsOf('sla_clocks')
const deliveries = widgetsOf('deliveries')
const runs = widgetsOf('runs')
const executions = widgetsOf('executions')
const events = widgetsOf('events')
const records = widgetsOf('records')

const resolutionTimes = ['incidents', 'p50_time_to_resolve', 'p90_time_to_resolve']
const failingExecutions = ['executions', 'failures', 'p95_duration']
const hasOutcome = { outcome: { exists: true } }

const definitions: Record<string, { name: string; description: string; widgets: NewWidget[] }> = {
  'service-desk': {
    name: 'Service desk',
    description: 'Workload of the service desk and the speed at which it is handled.',
    widgets: [
      incidents.total(3, 'open', 'Open incidents', 'open'),
      incidents.total(3, 'unassigned', 'Unassigned', 'unassigned'),
      incidents.recent(3, 'major', 'Major incidents', ['major']),
      incidents.recent(3, 'reopened', 'Reopened', ['reopened']),
      incidents.byDay(['line', 6], 'opened', 'Opened by day', ['incidents']),
      incidents.byDay(['line', 6], 'resolved', 'Resolved by day', ['incidents'], { timeField: 'resolvedAt' }),
      incidents.by(['severity'], 'bar', 'severity', 'Open by severity', ['open'], { range: ever }),
      incidents.by(['assignmentGroup'], 'table', 'teams', 'Time to resolve by team', resolutionTimes, {
        sort: '-incidents',
      }),
    ],
  },
  changes: {
    name: 'Changes',
    description: 'Changes in progress and their outcomes.',
    widgets: [
      changes.total(4, 'open', 'Open changes', 'open'),
      changes.recent(4, 'success', 'Success', ['success']),
      changes.recent(4, 'emergencies', 'Emergency changes', ['emergencies']),
      changes.byDay(['line', 6], 'created', 'Drafted by day', ['changes']),
      changes.by(['type', 'status'], 'table', 'types', 'By type and status', ['changes']),
      changes.by(['outcome'], 'pie', 'outcomes', 'Outcomes', ['implemented'], { filters: hasOutcome }),
      changes.by(['risk'], 'bar', 'risk', 'By risk', ['changes']),
    ],
  },
  sla: {
    name: 'Service levels',
    description: 'Service level targets and whether they were met.',
    widgets: [
      clocks.recent(4, 'met', 'Met', ['met']),
      clocks.recent(4, 'breaches', 'Breaches', ['breaches']),
      clocks.total(4, 'running', 'Running clocks', 'running'),
      clocks.byDay(['bar', 12], 'by_day', 'Breaches by day', ['breaches'], { timeField: 'breachedAt' }),
      clocks.by(['metric'], 'table', 'metrics', 'By metric', ['clocks', 'met', 'breaches']),
      clocks.by(['policyName'], 'table', 'policies', 'By policy', ['clocks', 'met', 'breaches'], {
        sort: '-breaches',
      }),
    ],
  },
  deliveries: {
    name: 'Deliveries',
    description: 'Webhook deliveries, their speed and their failures.',
    widgets: [
      deliveries.recent(3, 'deliveries', 'Deliveries', ['deliveries']),
      deliveries.recent(3, 'success', 'Success', ['success']),
      deliveries.total(3, 'under_way', 'In progress', 'under_way'),
      deliveries.recent(3, 'latency', 'Time to deliver, 95th percentile', ['p95_latency']),
      deliveries.byDay(['line', 12], 'by_day', 'By day', ['succeeded', 'failed']),
      deliveries.by(['host'], 'table', 'hosts', 'By host', ['deliveries', 'failed', 'p95_duration'], {
        sort: '-deliveries',
        limit: 50,
      }),
      deliveries.by(['responseStatus'], 'bar', 'responses', 'Failed by response', ['failed']),
      deliveries.by(['eventType'], 'bar', 'events', 'By event', ['deliveries'], {
        sort: '-deliveries',
        limit: 20,
      }),
    ],
  },
  automation: {
    name: 'Automation',
    description: 'Activity and failures of workflows and artifacts.',
    widgets: [
      runs.recent(3, 'runs', 'Runs', ['runs']),
      runs.recent(3, 'success', 'Success', ['success']),
      runs.total(3, 'going', 'Going on', 'going'),
      executions.recent(3, 'executions', 'Executions', ['executions', 'success']),
      runs.byDay(['line', 6], 'by_day', 'Runs by day', ['runs', 'failed']),
      runs.by(['workflowName'], 'table', 'workflows', 'Workflows', ['runs', 'failed', 'p95_duration'], {
        sort: '-runs',
      }),
      executions.by(['artifactSlug'], 'table', 'artifacts', 'Artifacts', failingExecutions, {
        sort: '-executions',
      }),
      runs.by(['triggerType'], 'pie', 'triggers', 'Runs by trigger', ['runs']),
    ],
  },
  platform: {
    name: 'Platform',
    description: 'Activity in the environment and the actors behind it.',
    widgets: [
      events.recent(4, 'today', 'Events today', ['events'], { range: { last: 1, unit: 'day' } }),
      events.recent(4, 'actors', 'Actors', ['actors']),
      records.recent(4, 'records', 'Record changes', ['changes']),
      events.byDay(['area', 12], 'by_day', 'Events by day', ['events'], { dimensions: ['actorType'] }),
      events.by(['family'], 'bar', 'families', 'By resource', ['events', 'actors'], {
        sort: '-events',
        limit: 20,
      }),
      records.by(['tableSlug'], 'table', 'tables', 'Changes by table', ['created', 'updated', 'deleted'], {
        limit: 50,
      }),
    ],
  },
}

/** Dashboards that exist in every workspace. */
export const builtInDashboards: readonly Dashboard[] = Object.entries(definitions).map(([id, dashboard]) => ({
  ...NewDashboard.parse(dashboard),
  ...{ id, builtIn: true, ownerId: null, createdAt: null, updatedAt: null, version: 1 },
}))
