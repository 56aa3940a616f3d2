export interface MedianInterval {
  median: number
  /** Between these the median lies, in at least 95 of 100 measurements, however the values are distributed. */
  low: number
  high: number
}

/** By the order of the values alone, so that some wild ones do no harm. With fewer than six there is no such interval: all of them. */
export function medianInterval(values: readonly number[]): MedianInterval {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
  const outside = outsideOf(sorted.length)
  return { median, low: at(outside), high: at(sorted.length - 1 - outside) }
}

/** How many values may be left out on each side: as many as fall below the median in less than 2.5 of 100 cases. */
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
