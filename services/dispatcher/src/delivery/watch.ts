import { byKey, type Metrics, type Tracing } from '@opsplane/telemetry'
import { LRUCache } from 'lru-cache'
import type { AttemptContent } from './attempt/attempt.js'
import type { ResultRow } from './attempt/record-statement.js'
import type { FirstLag } from './first-lag.js'
import type { DeliveryJob } from './job.js'

type Outcome = ResultRow['status']
const outcomes: readonly Outcome[] = ['succeeded', 'retrying', 'failed', 'postponed']

/** One attempt that is in flight. */
export interface WatchedAttempt {
  /** What is sent, with the trace it belongs to. */
  content: AttemptContent
  over(outcome: Outcome): void
}

export type Watch = (job: DeliveryJob) => WatchedAttempt

export interface WatchOptions {
  metrics: Metrics
  tracing: Tracing
  lag: Pick<FirstLag, 'started'>
}

/** Retries of so many deliveries are followed on. */
const maxRemembered = 10_000

/** Measures attempts, and follows those of events that are followed: their retries too, while they stay on this replica. */
export function watchAttempts({ metrics, tracing, lag }: WatchOptions): Watch {
  const ended = byKey(
    (outcome: Outcome) => metrics.counter('opsplane_delivery_attempts_total', { outcome }),
    outcomes,
  )
  const took = metrics.histogram('opsplane_delivery_attempt_duration_seconds', {})
  const retried = new LRUCache<string, string>({ max: maxRemembered })

  return (job) => {
    const { deliveryId, traceparent: own, content, attempts } = job
    const startedAt = performance.now()
    lag.started(job)
    const parent = own ?? retried.get(deliveryId)
    const attributes = { 'opsplane.event_type': content.type, 'opsplane.attempt': attempts + 1 }
    const traced = tracing.follow('deliver', parent, { kind: 'client', attributes })
    const { traceparent } = traced
    return {
      content: traceparent === undefined ? content : { ...content, traceparent },
      over(outcome) {
        ended(outcome)()
        took((performance.now() - startedAt) / 1_000)
        traced.end(outcome === 'succeeded' ? undefined : outcome)
        retried.delete(deliveryId)
        if (parent !== undefined && (outcome === 'retrying' || outcome === 'postponed'))
          retried.set(deliveryId, parent)
      },
    }
  }
}
