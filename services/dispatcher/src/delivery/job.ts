import { type DeliveryBody, stringifyExact } from '@opsplane/contracts'
import type { Target } from '../webhook/target.js'
import type { Job } from './enqueue/delivery-queues.js'
import type { AttemptColumns } from './record/record-statement.js'
import type { AttemptContent } from './send/attempt.js'

/** A first attempt that was queued before its row exists. */
export interface StartedAttempt {
  startedAt: number
  /** Resolves when the attempt has ended. */
  ended: Promise<void>
  end(): void
  /** Set once it has succeeded. */
  columns: AttemptColumns | undefined
  /** `undefined` until the row is committed. */
  made: boolean | undefined
  /** Resolves once the rows are committed or no longer awaited, with true if the result must be recorded separately. */
  settled: Promise<boolean>
  settle(apart: boolean): void
}

export interface DeliveryJob extends Job {
  target: Target
  content: AttemptContent
  attempts: number
  cycleBase: number
  /** Ordering key of the delivery; others may wait for its end. */
  orderingKey: string | null
  /** Trace context of the event, if it is traced. */
  traceparent?: string | undefined
  /** It waited in Postgres and was claimed there. */
  claimed?: true
  /** Set for a first attempt that does not wait for its row. */
  first?: StartedAttempt
}

/** The body as text. `data` is its largest part, and identical for all webhooks. */
export function formatBody(body: DeliveryBody, data: string): string {
  const { data: _, ...rest } = body
  return `${stringifyExact(rest).slice(0, -1)},"data":${data}}`
}
