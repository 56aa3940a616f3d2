import { findZone, type Zone } from '../zone.js'

const dayMs = 86_400_000
/** Further apart than any change of a clock is long. */
const apartMs = 2 * dayMs
const yearMs = 366 * dayMs

/** Between instants and what a clock on the wall of a time zone shows, both in milliseconds. */
export interface LocalClock {
  offsetAt(instant: number): number
  /** Of the offsets within two days around an instant, the smallest and the largest. */
  offsetsAround(instant: number): { least: number; most: number }
  /** The first change of the clock after an instant; none within a year is never. */
  changeAfter(instant: number): number
  /** The last change of the clock until an instant; none within a year is never. */
  changeUntil(instant: number): number
  /**
   * The instant at which the clock shows a time: the first one where it shows it twice; where it never does, the first instant
   * after the gap.
   */
  instantOf(shown: number): number
}

/** Throws RangeError when the runtime knows no zone of this name. */
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
