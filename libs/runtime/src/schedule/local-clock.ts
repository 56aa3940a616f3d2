import { findZone, type Zone } from '../zone.js'

const dayMs = 86_400_000
/** Longer than any clock change. */
const apartMs = 2 * dayMs
const yearMs = 366 * dayMs

/** Converts between instants and the wall clock of a time zone, both in milliseconds. */
export interface LocalClock {
  offsetAt(instant: number): number
  /** The smallest and the largest offset within two days around an instant. */
  offsetsAround(instant: number): { least: number; most: number }
  /** The first clock change after an instant; infinity if there is none within a year. */
  changeAfter(instant: number): number
  /** The last clock change up to an instant; negative infinity if there is none within a year. */
  changeUntil(instant: number): number
  /**
   * The instant at which the clock shows a time: the first one if it is shown twice; if it is never shown, the first
   * instant after the gap.
   */
  instantOf(shown: number): number
}

/** Throws RangeError if the runtime does not know a zone of this name. */
export function localClock(timeZone: string): LocalClock {
  const zone = findZone(timeZone)
  return {
    offsetAt: zone.offsetAt,
    offsetsAround(instant) {
      const offsets = [instant - apartMs, instant, instant + apartMs].map(zone.offsetAt)
      return { least: Math.min(...offsets), most: Math.max(...offsets) }
    },
    changeAfter: (instant) =>
      zone.changesBetween(instant + 1, instant + yearMs)[0] ?? Number.POSITIVE_INFINITY,
    changeUntil: (instant) =>
      zone.changesBetween(instant - yearMs, instant + 1).at(-1) ?? Number.NEGATIVE_INFINITY,
    instantOf: (shown) => instantOf(zone, shown),
  }
}

function instantOf(zone: Zone, shown: number): number {
  const tried = [shown - apartMs, shown + apartMs].map((near) => shown - zone.offsetAt(near))
  const [first, last] = [Math.min(...tried), Math.max(...tried)]
  for (const instant of [first, last]) if (instant + zone.offsetAt(instant) === shown) return instant
  return zone.changesBetween(first, last + 1)[0] ?? last
}
