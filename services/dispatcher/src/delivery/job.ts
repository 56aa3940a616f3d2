import { type DeliveryBody, stringifyExact } from '@opsplane/contracts'
import type { Target } from '../webhook/target.js'
import type { Job } from './enqueue/delivery-queues.js'
import type { AttemptColumns } from './record/record-statement.js'
import type { AttemptContent } from './send/attempt.js'

/** A first attempt that was handed to the queues before its row is there. */
export interface StartedAttempt {
  startedAt: number
  /** Resolves when the attempt has ended. */
  ended: Promise<void>
  end(): void
  /** Set once it has succeeded. */
  columns: AttemptColumns | undefined
  /** Undefined until the row is committed. */
  made: boolean | undefined
  /** Resolves once the rows are committed, or are no longer waited for: whether its result is to be recorded apart. */
  settled: Promise<boolean>
  settle(apart: boolean): void
}

export interface DeliveryJob extends Job {
  target: Target
  content: AttemptContent
  attempts: number
  cycleBase: number
  /** Of a delivery that is sent in order: others may wait for its end. */
  orderingKey: string | null
  /** Of the event, where that is followed. */
  traceparent?: string | undefined
  /** It has waited in Postgres and was claimed there. */
  claimed?: true
  /** Of a first attempt that does not wait for its row. */
  first?: StartedAttempt
}

/** The body as text. `data` is its largest part, and the same for all webhooks. */
export function formatBody(body: DeliveryBody, data: string): string {
  const { data: _, ...rest } = body
  return `${stringifyExact(rest).slice(0, -1)},"data":${data}}`
}
