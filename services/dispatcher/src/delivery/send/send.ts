import type { DeliveryJob } from '../job.js'
import type { DeliveryWatch } from '../measure/watch.js'
import { buildResult, type ResultOptions, type SentAttempt } from '../record/result-row.js'
import type { MakeAttempt } from './attempt.js'

export interface SendOptions extends ResultOptions {
  attempt: MakeAttempt
  watch: Pick<DeliveryWatch, 'begin'>
  /** Monotonic milliseconds. */
  now(): number
}

/** Makes one attempt of a delivery; resolves with its recording. */
export async function send(job: DeliveryJob, options: SendOptions): Promise<SentAttempt> {
  const { now, stopping, watch, attempt } = options
  const watched = watch.begin(job)
  const isInTime = () => now() < job.sendBefore
  const attempted = await attempt(job.target, watched.content, stopping, isInTime)
  const result = buildResult(job, attempted, options)
  watched.end(result.row.status)
  return result
}
