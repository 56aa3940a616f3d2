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
  /** Releases the queued jobs of a webhook back to Postgres. */
  returnQueued(webhookId: string): void
}

/** Maximum results waiting to be recorded; beyond it, attempts wait until they are recorded. */
const maxUnrecorded = 1_000

/** Records an attempt and triggers its consequences: a retry, the next delivery of its ordering key, or a pause. */
export async function record(
  job: DeliveryJob,
  result: SentAttempt,
  options: RecordOptions,
): Promise<EndpointHealth> {
  const recorded = recordAndFollow(job, result, options)
  // The next attempt to a healthy endpoint need not wait for the statement that records this one.
  if (result.health !== 'healthy' || options.recorder.pending() > maxUnrecorded) await recorded
  return result.health
}

async function recordAndFollow(job: DeliveryJob, result: AttemptRecording, options: RecordOptions) {
  const { recorder, ordering, due, now } = options
  const { first, target } = job
  if (first) {
    // The result of a first attempt that succeeded before its row was written is included in that statement.
    if (result.row.status === 'succeeded') first.columns = result.row
    first.end()
    if (!(await first.settled)) return
  }
  // The postponement is void if the lease has expired: the delivery is due anyway, and
  // another replica may be sending it.
  if (result.row.status === 'postponed' && now() > job.sendBefore + target.timeoutMs) return
  const isPaused = await recorder.add(result)
  if (isPaused) {
    options.webhooks.forget([target.tenant])
    options.returnQueued(target.id)
  }
  if (result.row.due_in_ms !== null) due.wakeIn(result.row.due_in_ms)
  else ordering.finish(job.webhookId, job.orderingKey)
}
