import { idTime } from '@opsplane/contracts'
import type { Metrics } from '@opsplane/telemetry'
import { LRUCache } from 'lru-cache'
import type { DeliveryJob } from '../job.js'

type Delivery = Pick<DeliveryJob, 'deliveryId' | 'attempts' | 'heldUpSince' | 'claimed'>

/**
 * Measures the delay of first attempts. The part caused by the platform ends when only the webhook itself delays the
 * attempt (ADR 126); the total delay of attempts that waited for their webhook is measured separately.
 */
export interface FirstLag {
  /** Called when the delivery found no place in memory and waits in Postgres. */
  left(delivery: Delivery): void
  /** Called when an attempt starts. Returns the milliseconds of delay caused by the platform; 0 for retries. */
  started(delivery: Delivery): number
}

export interface FirstLagOptions {
  metrics: Metrics
  /** Unix milliseconds. */
  nowMs(): number
  /** Monotonic milliseconds. */
  now(): number
}

/** Maximum remembered deliveries that waited in Postgres because the platform had no room; the oldest are forgotten. */
const maxRemembered = 20_000

export function measureFirstLag({ metrics, nowMs, now }: FirstLagOptions): FirstLag {
  const lag = metrics.histogram('opsplane_delivery_lag_seconds', {})
  const wait = metrics.histogram('opsplane_webhook_queue_wait_seconds', {})
  const withoutRoom = new LRUCache<string, true>({ max: maxRemembered })
  const ageMs = (deliveryId: string) => nowMs() - idTime(deliveryId)
  const observe = (record: (seconds: number) => void, ms: number) => record(Math.max(ms, 0) / 1_000)

  return {
    left({ deliveryId, heldUpSince }) {
      if (heldUpSince === undefined) withoutRoom.set(deliveryId, true)
      else observe(lag, ageMs(deliveryId))
    },
    started({ deliveryId, attempts, heldUpSince, claimed }) {
      if (attempts > 0) return 0
      const isMeasured = claimed === true && !withoutRoom.delete(deliveryId)
      const lateMs = isMeasured
        ? 0
        : ageMs(deliveryId) - (heldUpSince === undefined ? 0 : now() - heldUpSince)
      if (!isMeasured) observe(lag, lateMs)
      if (isMeasured || heldUpSince !== undefined) observe(wait, ageMs(deliveryId))
      return lateMs
    },
  }
}
