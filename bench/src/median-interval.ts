export interface MedianInterval {
  median: number
  /** Bounds that contain the true median in at least 95 of 100 measurements, whatever the distribution of the values. */
  low: number
  high: number
}

/**
 * Uses only the order of the values, so outliers do no harm. Fewer than six values have no such interval: the bounds
 * are then the minimum and the maximum.
 */
export function medianInterval(values: readonly number[]): MedianInterval {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
  const outside = outsideOf(sorted.length)
  return { median, low: at(outside), high: at(sorted.length - 1 - outside) }
}

/** Number of values to leave out on each side: the largest number for which the chance is at most 2.5 %. */
function outsideOf(count: number): number {
  let chance = 0.5 ** count
  let sum = chance
  let outside = 0
  for (; sum <= 0.025; outside++) {
    chance *= (count - outside) / (outside + 1)
    sum += chance
  }
  return Math.max(0, outside - 1)
}
