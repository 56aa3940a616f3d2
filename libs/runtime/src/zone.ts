/** The offset of a time zone from UTC, by instant. */
export interface Zone {
  offsetAt(instant: number): number
  /** Instants in [from, to) at which the offset changes, in order. */
  changesBetween(from: number, to: number): number[]
}

const dayMs = 86_400_000
const zones = new Map<string, Zone>()

/** Throws RangeError if the runtime does not know a zone of this name. */
export function findZone(name: string): Zone {
  const zone = zones.get(name) ?? createZone(name)
  zones.set(name, zone)
  return zone
}

/**
 * Queries Intl for the offset about once a week in each requested year, and searches for the change if two
 * neighbours differ; the results are cached. No zone changes twice within a week.
 */
function createZone(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'iso8601',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const years = new Map<number, { at: number; offset: number; isChange: boolean }[]>()

  function offsetAt(instant: number): number {
    const parts: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1_000) * 1_000
  }

  /** The first second in (low, high] with the offset of `high`. */
  function search(low: number, high: number, offset: number): number {
    let [before, after] = [low / 1_000, high / 1_000]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (offsetAt(middle * 1_000) === offset) before = middle
      else after = middle
    }
    return after * 1_000
  }

  /** The offset at the start of a UTC year, and every change within it. */
  function stepsOf(year: number) {
    const known = years.get(year)
    if (known) return known
    const end = Date.UTC(year + 1, 0, 1)
    let at = Date.UTC(year, 0, 1)
    let offset = offsetAt(at)
    const steps = [{ at, offset, isChange: offsetAt(at - 1_000) !== offset }]
    while (at < end) {
      const next = Math.min(at + 7 * dayMs, end)
      const offsetThere = offsetAt(next)
      if (offsetThere !== offset) {
        const change = search(at, next, offset)
        if (change < end) steps.push({ at: change, offset: offsetThere, isChange: true })
      }
      offset = offsetThere
      at = next
    }
    years.set(year, steps)
    return steps
  }

  const yearOf = (instant: number) => new Date(instant).getUTCFullYear()
  return {
    offsetAt: (instant) => stepsOf(yearOf(instant)).findLast(({ at }) => at <= instant)?.offset ?? 0,
    changesBetween(from, to) {
      const changes: number[] = []
      for (let year = yearOf(from); year <= yearOf(to); year++) {
        for (const { at, isChange } of stepsOf(year)) if (isChange && at >= from && at < to) changes.push(at)
      }
      return changes
    },
  }
}
