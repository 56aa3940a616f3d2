import type { Delivery } from '../../api/api.js'

/** How a webhook fares, by its latest deliveries. */
export interface Health {
  total: number
  failed: number
  /** Of the failed ones those that were not replayed since. */
  unresolved: number
  /** Of those that have ended, in percent; undefined where none has. */
  succeededShare: number | undefined
  medianMs: number | undefined
  p95Ms: number | undefined
}

type Ended = Pick<Delivery, 'id' | 'replayOf' | 'status' | 'lastDurationMs'>

export function computeHealth(latest: readonly Ended[]): Health {
  const ended = latest.filter(({ status }) => status === 'succeeded' || status === 'failed')
  const failures = ended.filter(({ status }) => status === 'failed')
  const failed = failures.length
  const replayed = new Set(latest.map(({ replayOf }) => replayOf))
  const durations = latest
    .flatMap(({ lastDurationMs }) => lastDurationMs ?? [])
    .sort((one, other) => one - other)
  return {
    total: latest.length,
    failed,
    unresolved: failures.filter(({ id }) => !replayed.has(id)).length,
    succeededShare: ended.length === 0 ? undefined : shareOf(ended.length - failed, ended.length),
    medianMs: quantile(durations, 0.5),
    p95Ms: quantile(durations, 0.95),
  }
}

/** Nothing but all is 100 %, and nothing but none is 0 %. */
function shareOf(part: number, whole: number): number {
  const percent = Math.round((part / whole) * 100)
  if (part < whole && percent === 100) return 99
  return part > 0 && percent === 0 ? 1 : percent
}

/** The nearest rank. */
const quantile = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)]
