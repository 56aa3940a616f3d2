import type { Delivery } from '../../api/api.js'

/** Health of a webhook, computed from its latest deliveries. */
export interface Health {
  total: number
  failed: number
  /** Number of failed deliveries that were not replayed since. */
  unresolved: number
  /** Percentage of finished deliveries that succeeded; `undefined` if none is finished. */
  succeededShare: number | undefined
  medianMs: number | undefined
  p95Ms: number | undefined
}

type Ended = Pick<Delivery, 'id' | 'replayOf' | 'status' | 'lastDurationMs'>

export function computeHealth(latest: readonly Ended[]): Health {
  const completed = latest.filter(({ status }) => status === 'succeeded' || status === 'failed')
  const failures = completed.filter(({ status }) => status === 'failed')
  const failed = failures.length
  const replayed = new Set(latest.map(({ replayOf }) => replayOf))
  const durations = latest
    .flatMap(({ lastDurationMs }) => lastDurationMs ?? [])
    .sort((one, other) => one - other)
  return {
    total: latest.length,
    failed,
    unresolved: failures.filter(({ id }) => !replayed.has(id)).length,
    succeededShare: completed.length === 0 ? undefined : shareOf(completed.length - failed, completed.length),
    medianMs: quantile(durations, 0.5),
    p95Ms: quantile(durations, 0.95),
  }
}

/** Rounds to percent, but returns 100 only for all and 0 only for none. */
function shareOf(part: number, whole: number): number {
  const percent = Math.round((part / whole) * 100)
  if (part < whole && percent === 100) return 99
  return part > 0 && percent === 0 ? 1 : percent
}

/** Quantile by the nearest-rank method. */
const quantile = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)]
