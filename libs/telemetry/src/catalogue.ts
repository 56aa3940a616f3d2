/** Kind, description and labels of a metric. No label names a tenant or a value chosen by a caller. */
export interface MetricDefinition {
  kind: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  /** Upper bounds, in the unit of the name. */
  buckets?: readonly number[]
}

const counter = <const Labels extends readonly string[]>(help: string, ...labels: Labels) =>
  ({ kind: 'counter', help, labels }) as const
const gauge = <const Labels extends readonly string[]>(help: string, ...labels: Labels) =>
  ({ kind: 'gauge', help, labels }) as const
const histogram = <const Labels extends readonly string[]>(
  help: string,
  buckets: readonly number[],
  ...labels: Labels
) => ({ kind: 'histogram', help, labels, buckets }) as const

const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30]
const lagSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2, 10, 60, 600]
const workSeconds = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600]

/** All metrics: dashboards, rules and docs use no others. */
export const metricCatalogue = {
  opsplane_http_requests_total: counter(
    'Requests that were answered; status is the class such as 2xx, 499 (the client left) counts as 4xx.',
    ...(['operation', 'method', 'status'] as const),
  ),
  opsplane_http_request_duration_seconds: histogram(
    'From the head of a request to the end of its answer; waits: whether that may be as late as of a long-poll.',
    requestSeconds,
    ...(['operation', 'waits'] as const),
  ),
  opsplane_outbox_events: gauge('Events that are committed and not published yet; 100000 stands for more.'),
  opsplane_outbox_oldest_age_seconds: gauge('Age of the oldest of them; 0 without any.'),
  opsplane_relay_active: gauge('1 where this process is the relay of its service.'),
  opsplane_relay_published_total: counter('Events that this process has published to JetStream.'),
  opsplane_relay_lag_seconds: gauge('How old the event was that this process has published last.'),
  opsplane_relay_refills_total: counter(
    'How often this process has filled a stream again that had lost events.',
  ),
  opsplane_relay_refills_failed: gauge(
    'Refills in a row after which the stream still lacked what was published; 0 after one that it kept.',
  ),
  opsplane_consumer_handled_total: counter('Events a durable consumer has applied.', 'durable'),
  opsplane_consumer_retried_total: counter('Events returned for redelivery.', 'durable'),
  opsplane_consumer_dead_letters_total: counter('Events a durable consumer has given up.', 'durable'),
  opsplane_consumer_pending: gauge('Events of the stream that were not delivered to it yet.', 'durable'),
  opsplane_consumer_ack_pending: gauge('Events delivered to it that are not acknowledged.', 'durable'),
  opsplane_dead_letters: gauge('Dead letters that are kept, by who has given them up.', 'consumer'),
  opsplane_due_work_claimed_total: counter('Rows claimed as due.', 'work'),
  opsplane_due_work_done_total: counter('Rows of due work that were done.', 'work'),
  opsplane_due_work_failed_total: counter('Rows of due work that have failed and are tried again.', 'work'),
  opsplane_due_work_due: gauge('Rows that are due now and not leased; 10000 means 10000 or more.', 'work'),
  opsplane_due_work_oldest_age_seconds: gauge('For how long the first of them has been due.', 'work'),
  opsplane_postgres_connections: gauge('Connections of the service to Postgres, over all replicas.', 'state'),
  opsplane_postgres_roundtrip_seconds: gauge(
    'What the smallest statement took when it was last asked, the wait for a free connection of the pool included.',
    'pool',
  ),
  opsplane_tenant_connections: gauge('Connections of the data plane to databases of tenants.', 'state'),
  opsplane_nats_connected: gauge('1 while the NATS server answers.'),
  opsplane_nats_reconnects_total: counter('How often the connection to NATS came back.'),
  opsplane_delivery_attempts_total: counter(
    'Attempts of webhook deliveries, by what came of them.',
    'outcome',
  ),
  opsplane_delivery_attempt_duration_seconds: histogram('How long an attempt took.', requestSeconds),
  opsplane_delivery_lag_seconds: histogram(
    'From an event to the first attempt of a delivery of it, or to where nothing but its own webhook keeps that waiting.',
    lagSeconds,
  ),
  opsplane_webhook_queue_wait_seconds: histogram(
    'From an event to the first attempt of a delivery that waited for its own webhook: its cap, rate limit, order, pause or full queue.',
    lagSeconds,
  ),
  opsplane_deliveries_due: gauge(
    'Deliveries that are due and not leased, though their webhooks have capacity; 10000 means 10000 or more.',
  ),
  opsplane_deliveries_oldest_due_age_seconds: gauge('For how long the first of them has been due.'),
  opsplane_webhook_queue_age_seconds: gauge(
    'For how long the first delivery has been due of those that wait for their own webhook.',
  ),
  opsplane_webhooks_paused: gauge('Webhooks that are paused, by why.', 'reason'),
  opsplane_certificate_expiry_timestamp_seconds: gauge(
    'Until when a certificate is valid that the process has read, since the epoch; 0 where none is configured.',
    'certificate',
  ),
  opsplane_backup_last_success_timestamp_seconds: gauge(
    'When the last backup was whole, since the epoch; 0 where none is recorded.',
  ),
  opsplane_topic_polls_waiting: gauge('Long-polls that wait on this replica.'),
  opsplane_run_transitions_total: counter('Runs that came to a state.', 'status'),
  opsplane_run_step_duration_seconds: histogram('How long a step with an effect took.', workSeconds, 'type'),
  opsplane_executions_total: counter('Executions of artifacts that have ended.', 'status'),
  opsplane_execution_duration_seconds: histogram('How long an execution took.', workSeconds),
  opsplane_sandbox_children: gauge('Child processes that run, by what for.', 'pool', 'state'),
  opsplane_metrics_failures_total: counter('Values that could not be found out for a scrape.'),
  process_cpu_seconds_total: counter('Processor time of the process, user and system.'),
  process_resident_memory_bytes: gauge('Memory of the process, without that of its children.'),
  process_start_time_seconds: gauge('When the process began, since the epoch.'),
  nodejs_heap_size_used_bytes: gauge('What is in the heap, garbage included.'),
  nodejs_heap_size_limit_bytes: gauge('What the heap may grow to.'),
  nodejs_eventloop_lag_p99_seconds: gauge(
    'How late the event loop got to its work, at 99 of 100 samples since the last scrape no later.',
  ),
} satisfies Record<string, MetricDefinition>

type Catalogue = typeof metricCatalogue
export type MetricName = keyof Catalogue
export type NameOf<Kind extends MetricDefinition['kind']> = {
  [Name in MetricName]: Catalogue[Name]['kind'] extends Kind ? Name : never
}[MetricName]
/** A value for each label of a metric. */
export type LabelsOf<Name extends MetricName> = Record<Catalogue[Name]['labels'][number], string>

/** The series names in a scrape: histograms have three each. */
export function seriesNames(): string[] {
  return Object.entries<MetricDefinition>(metricCatalogue).flatMap(([name, { kind }]) =>
    kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  )
}
