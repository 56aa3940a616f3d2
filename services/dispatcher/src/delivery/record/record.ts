import type { EndpointHealth } from '../enqueue/delivery-queues.js'
import type { DueSignal } from '../enqueue/due-signal.js'
import type { DeliveryJob } from '../job.js'
import type { WebhookIndex } from '../match/webhook-index.js'
import type { OrderingQueues } from '../ordering/ordering-queues.js'
import type { AttemptRecording } from './record-results.js'
import type { ResultRecorder } from './result-recorder.js'
import type { SentAttempt } from './result-row.js'

export interface RecordOptions {
  recorder: ResultRecorder
  ordering: Pick<OrderingQueues, 'finish'>
  due: Pick<DueSignal, 'wakeIn'>
  /** Monotonic milliseconds. */
  now(): number
  webhooks: Pick<WebhookIndex, 'forget'>
  /** Returns what is queued for a webhook to Postgres. */
  returnQueued(webhookId: string): void
}

/** Results waiting to be recorded beyond which attempts wait for their record. */
const maxUnrecorded = 1_000

/** Records an attempt, and has what follows from it done: a retry, the next delivery of its ordering key, or a pause. */
export async function record(
  job: DeliveryJob,
  result: SentAttempt,
  options: RecordOptions,
): Promise<EndpointHealth> {
  const recorded = recordAndFollow(job, result, options)
  // A healthy endpoint's next attempt need not wait for the statement that records this one.
  if (result.health !== 'healthy' || options.recorder.pending() > maxUnrecorded) await recorded
  return result.health
}

async function recordAndFollow(job: DeliveryJob, result: AttemptRecording, options: RecordOptions) {
  const { recorder, ordering, due, now } = options
  const { first, target } = job
  if (first) {
    // A first attempt that succeeded before its row was written goes into that very statement.
    if (result.row.status === 'succeeded') first.columns = result.row
    first.end()
    if (!(await first.settled)) return
  }
  // With its lease it has lapsed: it is due by itself, and another replica may be sending it.
  if (result.row.status === 'postponed' && now() > job.sendBefore + target.timeoutMs) return
  const isPaused = await recorder.add(result)
  if (isPaused) {
    options.webhooks.forget([target.tenant])
    options.returnQueued(target.id)
  }
  if (result.row.due_in_ms !== null) due.wakeIn(result.row.due_in_ms)
  else ordering.finish(job.webhookId, job.orderingKey)
}
