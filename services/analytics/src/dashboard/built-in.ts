import { type AnalyticsQuery, type Dashboard, NewDashboard, type Widget } from '@opsplane/contracts'

type WidgetQuery = Partial<AnalyticsQuery> & Pick<AnalyticsQuery, 'dataset' | 'measures'>
type Entry = [id: string, title: string, kind: Widget['kind'], width: number, query: WidgetQuery]

const today = { last: 1, unit: 'day' } as const
const month = { last: 30, unit: 'day' } as const
const ever = { last: 10, unit: 'year' } as const
const byDay = { grain: 'day', range: month } as const

/** Open work covers all times; activity covers the last 30 days, and single figures are compared with the 30 before. */
const definitions: Record<string, { name: string; description: string; widgets: Entry[] }> = {
  'service-desk': {
    name: 'Service desk',
    description: 'What lies with the desk, and how fast it is dealt with.',
    widgets: [
      ['open', 'Open incidents', 'metric', 3, { dataset: 'incidents', measures: ['open'], range: ever }],
      [
        'unassigned',
        'Unassigned',
        'metric',
        3,
        { dataset: 'incidents', measures: ['unassigned'], range: ever },
      ],
      [
        'major',
        'Major incidents',
        'metric',
        3,
        { dataset: 'incidents', measures: ['major'], range: month, comparePrevious: true },
      ],
      [
        'reopened',
        'Reopened',
        'metric',
        3,
        { dataset: 'incidents', measures: ['reopened'], range: month, comparePrevious: true },
      ],
      ['opened', 'Opened by day', 'line', 6, { dataset: 'incidents', measures: ['incidents'], ...byDay }],
      [
        'resolved',
        'Resolved by day',
        'line',
        6,
        { dataset: 'incidents', measures: ['incidents'], timeField: 'resolvedAt', ...byDay },
      ],
      [
        'severity',
        'Open by severity',
        'bar',
        6,
        { dataset: 'incidents', measures: ['open'], dimensions: ['severity'], range: ever },
      ],
      [
        'teams',
        'Time to resolve by team',
        'table',
        6,
        {
          dataset: 'incidents',
          measures: ['incidents', 'p50_time_to_resolve', 'p90_time_to_resolve'],
          dimensions: ['assignmentGroup'],
          range: month,
          sort: '-incidents',
        },
      ],
    ],
  },
  changes: {
    name: 'Changes',
    description: 'What is being changed, and how it turns out.',
    widgets: [
      ['open', 'Open changes', 'metric', 4, { dataset: 'changes', measures: ['open'], range: ever }],
      [
        'success',
        'Success',
        'metric',
        4,
        { dataset: 'changes', measures: ['success'], range: month, comparePrevious: true },
      ],
      [
        'emergencies',
        'Emergency changes',
        'metric',
        4,
        { dataset: 'changes', measures: ['emergencies'], range: month, comparePrevious: true },
      ],
      ['created', 'Drafted by day', 'line', 6, { dataset: 'changes', measures: ['changes'], ...byDay }],
      [
        'types',
        'By type and status',
        'table',
        6,
        { dataset: 'changes', measures: ['changes'], dimensions: ['type', 'status'], range: month },
      ],
      [
        'outcomes',
        'Outcomes',
        'pie',
        6,
        {
          dataset: 'changes',
          measures: ['implemented'],
          dimensions: ['outcome'],
          filters: { outcome: { exists: true } },
          range: month,
        },
      ],
      [
        'risk',
        'By risk',
        'bar',
        6,
        { dataset: 'changes', measures: ['changes'], dimensions: ['risk'], range: month },
      ],
    ],
  },
  sla: {
    name: 'Service levels',
    description: 'What was promised, and whether it was kept.',
    widgets: [
      [
        'met',
        'Met',
        'metric',
        4,
        { dataset: 'sla_clocks', measures: ['met'], range: month, comparePrevious: true },
      ],
      [
        'breaches',
        'Breaches',
        'metric',
        4,
        { dataset: 'sla_clocks', measures: ['breaches'], range: month, comparePrevious: true },
      ],
      [
        'running',
        'Running clocks',
        'metric',
        4,
        { dataset: 'sla_clocks', measures: ['running'], range: ever },
      ],
      [
        'by_day',
        'Breaches by day',
        'bar',
        12,
        { dataset: 'sla_clocks', measures: ['breaches'], timeField: 'breachedAt', ...byDay },
      ],
      [
        'metrics',
        'By metric',
        'table',
        6,
        {
          dataset: 'sla_clocks',
          measures: ['clocks', 'met', 'breaches'],
          dimensions: ['metric'],
          range: month,
        },
      ],
      [
        'policies',
        'By policy',
        'table',
        6,
        {
          dataset: 'sla_clocks',
          measures: ['clocks', 'met', 'breaches'],
          dimensions: ['policyName'],
          range: month,
          sort: '-breaches',
        },
      ],
    ],
  },
  deliveries: {
    name: 'Deliveries',
    description: 'What webhooks are sent, how fast it arrives, and where it does not.',
    widgets: [
      [
        'deliveries',
        'Deliveries',
        'metric',
        3,
        { dataset: 'deliveries', measures: ['deliveries'], range: month, comparePrevious: true },
      ],
      [
        'success',
        'Success',
        'metric',
        3,
        { dataset: 'deliveries', measures: ['success'], range: month, comparePrevious: true },
      ],
      [
        'under_way',
        'In progress',
        'metric',
        3,
        { dataset: 'deliveries', measures: ['under_way'], range: ever },
      ],
      [
        'latency',
        'Time to deliver, 95th percentile',
        'metric',
        3,
        { dataset: 'deliveries', measures: ['p95_latency'], range: month, comparePrevious: true },
      ],
      [
        'by_day',
        'By day',
        'line',
        12,
        { dataset: 'deliveries', measures: ['succeeded', 'failed'], ...byDay },
      ],
      [
        'hosts',
        'By host',
        'table',
        6,
        {
          dataset: 'deliveries',
          measures: ['deliveries', 'failed', 'p95_duration'],
          dimensions: ['host'],
          range: month,
          sort: '-deliveries',
          limit: 50,
        },
      ],
      [
        'responses',
        'Failed by response',
        'bar',
        6,
        { dataset: 'deliveries', measures: ['failed'], dimensions: ['responseStatus'], range: month },
      ],
      [
        'events',
        'By event',
        'bar',
        6,
        {
          dataset: 'deliveries',
          measures: ['deliveries'],
          dimensions: ['eventType'],
          range: month,
          sort: '-deliveries',
          limit: 20,
        },
      ],
    ],
  },
  automation: {
    name: 'Automation',
    description: 'What workflows and artifacts do, and where they fail.',
    widgets: [
      [
        'runs',
        'Runs',
        'metric',
        3,
        { dataset: 'runs', measures: ['runs'], range: month, comparePrevious: true },
      ],
      [
        'success',
        'Success',
        'metric',
        3,
        { dataset: 'runs', measures: ['success'], range: month, comparePrevious: true },
      ],
      ['going', 'Going on', 'metric', 3, { dataset: 'runs', measures: ['going'], range: ever }],
      [
        'executions',
        'Executions',
        'metric',
        3,
        { dataset: 'executions', measures: ['executions', 'success'], range: month, comparePrevious: true },
      ],
      ['by_day', 'Runs by day', 'line', 6, { dataset: 'runs', measures: ['runs', 'failed'], ...byDay }],
      [
        'workflows',
        'Workflows',
        'table',
        6,
        {
          dataset: 'runs',
          measures: ['runs', 'failed', 'p95_duration'],
          dimensions: ['workflowName'],
          range: month,
          sort: '-runs',
        },
      ],
      [
        'artifacts',
        'Artifacts',
        'table',
        6,
        {
          dataset: 'executions',
          measures: ['executions', 'failures', 'p95_duration'],
          dimensions: ['artifactSlug'],
          range: month,
          sort: '-executions',
        },
      ],
      [
        'triggers',
        'Runs by trigger',
        'pie',
        6,
        { dataset: 'runs', measures: ['runs'], dimensions: ['triggerType'], range: month },
      ],
    ],
  },
  platform: {
    name: 'Platform',
    description: 'What happens in the environment, and who does it.',
    widgets: [
      [
        'today',
        'Events today',
        'metric',
        4,
        { dataset: 'events', measures: ['events'], range: today, comparePrevious: true },
      ],
      [
        'actors',
        'Actors',
        'metric',
        4,
        { dataset: 'events', measures: ['actors'], range: month, comparePrevious: true },
      ],
      [
        'records',
        'Record changes',
        'metric',
        4,
        { dataset: 'records', measures: ['changes'], range: month, comparePrevious: true },
      ],
      [
        'by_day',
        'Events by day',
        'area',
        12,
        { dataset: 'events', measures: ['events'], dimensions: ['actorType'], ...byDay },
      ],
      [
        'families',
        'By resource',
        'bar',
        6,
        {
          dataset: 'events',
          measures: ['events', 'actors'],
          dimensions: ['family'],
          range: month,
          sort: '-events',
          limit: 20,
        },
      ],
      [
        'tables',
        'Changes by table',
        'table',
        6,
        {
          dataset: 'records',
          measures: ['created', 'updated', 'deleted'],
          dimensions: ['tableSlug'],
          range: month,
          limit: 50,
        },
      ],
    ],
  },
}

/** Dashboards that are there in every workspace. */
export const builtInDashboards: readonly Dashboard[] = Object.entries(definitions).map(
  ([id, { widgets, ...shown }]) => ({
    ...NewDashboard.parse({
      ...shown,
      widgets: widgets.map(([widgetId, title, kind, width, query]) => ({
        id: widgetId,
        title,
        kind,
        width,
        query,
      })),
    }),
    ...{ id, builtIn: true, ownerId: null, createdAt: null, updatedAt: null, version: 1 },
  }),
)
