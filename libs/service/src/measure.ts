import type { EventConsumer, Relay } from '@opsplane/eventstore'
import { measureLink, type NatsLink } from '@opsplane/nats'
import type { Database, DueWorkGroup } from '@opsplane/postgres'
import type { Metrics, Sample } from '@opsplane/telemetry'
import { countDeadLetters, countDue, readConsumerPositions, readOutbox } from './operations/progress.js'

/**
 * Minimum milliseconds between queries for metrics that cost a query, whatever the scrape rate: short for the outbox,
 * which triggers alerts first, longer for the progress of consumers, longest for slowly changing values. Slightly less
 * than multiples of the usual 15 s, so that the query coincides with a scrape.
 */
const everyMs = { outbox: 10_000, progress: 25_000, stock: 55_000 }

interface MeasuredParts {
  database: Database
  relay: Relay
  link: NatsLink
  dueWork: DueWorkGroup
  /** Started consumers by their durables. */
  consumers: ReadonlyMap<string, EventConsumer>
}

/** Registers the metrics of a service's log, consumers, due work and connections. */
export function measureService(metrics: Metrics, parts: MeasuredParts): void {
  metrics.gather(() => [...relayed(parts), ...handled(parts), ...worked(parts)])
  metrics.gather(() => outbox(parts), everyMs.outbox)
  metrics.gather(() => deadLetters(parts), everyMs.stock)
  metrics.gather(() => places(parts), everyMs.progress)
  metrics.gather(() => due(parts), everyMs.progress)
  metrics.gather(() => connections(parts), everyMs.stock)
  measureLink(metrics, parts.link)
}

function relayed({ relay }: MeasuredParts): Sample[] {
  const { active, published, lagMs, refills, refillsFailed } = relay.counters()
  return [
    { name: 'opsplane_relay_active', value: active ? 1 : 0 },
    { name: 'opsplane_relay_published_total', value: published },
    { name: 'opsplane_relay_lag_seconds', value: active ? lagMs / 1_000 : 0 },
    { name: 'opsplane_relay_refills_total', value: refills },
    { name: 'opsplane_relay_refills_failed', value: refillsFailed },
  ]
}

function handled({ consumers }: MeasuredParts): Sample[] {
  return [...consumers].flatMap(([durable, consumer]): Sample[] => {
    const counts = consumer.counters()
    const labels = { durable }
    return [
      { name: 'opsplane_consumer_handled_total', labels, value: counts.handled },
      { name: 'opsplane_consumer_retried_total', labels, value: counts.retried },
      { name: 'opsplane_consumer_dead_letters_total', labels, value: counts.deadLettered },
    ]
  })
}

function worked({ dueWork }: MeasuredParts): Sample[] {
  return dueWork.works().flatMap(({ name: work, counts }): Sample[] => [
    { name: 'opsplane_due_work_claimed_total', labels: { work }, value: counts.claimed },
    { name: 'opsplane_due_work_done_total', labels: { work }, value: counts.done },
    { name: 'opsplane_due_work_failed_total', labels: { work }, value: counts.failed },
  ])
}

async function outbox({ database }: MeasuredParts): Promise<Sample[]> {
  const { events, oldestSeconds } = await readOutbox(database)
  return [
    { name: 'opsplane_outbox_events', value: events },
    { name: 'opsplane_outbox_oldest_age_seconds', value: oldestSeconds },
  ]
}

async function deadLetters({ database, consumers }: MeasuredParts): Promise<Sample[]> {
  return [...(await countDeadLetters(database, consumers))].map(([consumer, value]) => ({
    name: 'opsplane_dead_letters',
    labels: { consumer },
    value,
  }))
}

async function places({ consumers, link }: MeasuredParts): Promise<Sample[]> {
  const found = await readConsumerPositions(link, consumers)
  return found.flatMap(({ durable, pending, ackPending }): Sample[] => {
    const labels = { durable }
    return [
      { name: 'opsplane_consumer_pending', labels, value: pending },
      { name: 'opsplane_consumer_ack_pending', labels, value: ackPending },
    ]
  })
}

async function due({ database, dueWork }: MeasuredParts): Promise<Sample[]> {
  const rows = await countDue(database, dueWork)
  return rows.flatMap(({ name: work, late, oldestSeconds }): Sample[] => [
    { name: 'opsplane_due_work_due', labels: { work }, value: late },
    { name: 'opsplane_due_work_oldest_age_seconds', labels: { work }, value: oldestSeconds },
  ])
}

const usualStates = ['active', 'idle', 'idle in transaction']

async function connections({ database }: MeasuredParts): Promise<Sample[]> {
  const rows = await database.sql.unsafe<{ state: string; count: number }[]>(
    `select coalesce(state, 'unknown') as state, count(*)::int as count
     from pg_stat_get_activity(null) where usesysid = quote_ident(current_user)::regrole group by 1`,
  )
  const pools = { statements: database.sql, writes: database.planned }
  const durations = await Promise.all(
    Object.entries(pools).map(async ([pool, sql]): Promise<Sample> => {
      const startedAt = performance.now()
      await sql`select 1`
      const value = (performance.now() - startedAt) / 1_000
      return { name: 'opsplane_postgres_roundtrip_seconds', labels: { pool }, value }
    }),
  )
  const counts = new Map([
    ...usualStates.map((state) => [state, 0] as const),
    ...rows.map(({ state, count }) => [state, count] as const),
  ])
  const states = [...counts].map(
    ([state, value]): Sample => ({ name: 'opsplane_postgres_connections', labels: { state }, value }),
  )
  return [...states, ...durations]
}
