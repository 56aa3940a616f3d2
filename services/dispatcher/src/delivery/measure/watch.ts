import { byKey, type Metrics, type Tracing } from '@opsplane/telemetry'
import { LRUCache } from 'lru-cache'
import type { DeliveryJob } from '../job.js'
import type { ResultRow } from '../record/record-statement.js'
import type { AttemptContent } from '../send/attempt.js'
import { type BusiestWorkspacesOptions, createBusiestWorkspaces } from './busiest-workspaces.js'
import type { FirstLag } from './first-lag.js'

type Outcome = ResultRow['status']
const outcomes: readonly Outcome[] = ['succeeded', 'retrying', 'failed', 'postponed']

/** One attempt in flight. */
export interface WatchedAttempt {
  /** The content to send, with its trace. */
  content: AttemptContent
  end(outcome: Outcome): void
}

/** Observes deliveries. */
export interface DeliveryWatch {
  /** The row of a delivery that found no place in memory is committed; it waits in Postgres. */
  left(job: DeliveryJob): void
  /** An attempt starts. */
  begin(job: DeliveryJob): WatchedAttempt
}

export interface WatchOptions extends BusiestWorkspacesOptions {
  metrics: Metrics
  tracing: Tracing
  lag: FirstLag
}

/** Maximum deliveries whose retries are traced. */
const maxRemembered = 10_000

/** Measures attempts, and traces those of traced events, including retries that stay on this replica. */
export function watchDeliveries(options: WatchOptions): DeliveryWatch {
  const { metrics, tracing, lag } = options
  const busiest = createBusiestWorkspaces(options)
  const counterByOutcome = byKey(
    (outcome: Outcome) => metrics.counter('opsplane_delivery_attempts_total', { outcome }),
    outcomes,
  )
  const observeDuration = metrics.histogram('opsplane_delivery_attempt_duration_seconds', {})
  const retried = new LRUCache<string, string>({ max: maxRemembered })

  const begin: DeliveryWatch['begin'] = (job) => {
    const { deliveryId, traceparent: own, content, attempts } = job
    const startedAt = performance.now()
    busiest.add(job.workspaceId, lag.started(job))
    const parent = own ?? retried.get(deliveryId)
    const attributes = { 'opsplane.event_type': content.type, 'opsplane.attempt': attempts + 1 }
    const traced = tracing.follow('deliver', parent, { kind: 'client', attributes })
    const { traceparent } = traced
    return {
      content: traceparent === undefined ? content : { ...content, traceparent },
      end(outcome) {
        counterByOutcome(outcome)()
        observeDuration((performance.now() - startedAt) / 1_000)
        traced.end(outcome === 'succeeded' ? undefined : outcome)
        retried.delete(deliveryId)
        if (parent !== undefined && (outcome === 'retrying' || outcome === 'postponed'))
          retried.set(deliveryId, parent)
      },
    }
  }

  return { left: lag.left, begin }
}
