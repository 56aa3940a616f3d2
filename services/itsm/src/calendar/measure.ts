import type { SlaGoalUnit } from '@opsplane/contracts'

/**
 * Converts the open time of a date into counted time. Both are
 * whole numbers, so counts of separate parts add up exactly.
 */
export interface TimeMeasure {
  /** Time counted for the first `openMs` open milliseconds of a date whose open time is `ofDate` in total. */
  counted(openMs: number, ofDate: number): number
  /** The minimum open time of the date that counts as `countedMs`. */
  needed(countedMs: number, ofDate: number): number
}

const daySeconds = 86_400

/** Counted milliseconds in one unit of a goal. */
export const goalUnitMs = { minutes: 60_000, business_days: daySeconds * 1_000 }

export const timeMeasures: Record<SlaGoalUnit, TimeMeasure> = {
  minutes: { counted: (openMs) => openMs, needed: (countedMs) => countedMs },
  // Hours are whole minutes and offsets change at whole seconds.
  // Dividing by seconds keeps every product an exact integer.
  business_days: {
    counted: (openMs, ofDate) => Math.floor((openMs * daySeconds) / (ofDate / 1_000)),
    needed: (countedMs, ofDate) => Math.ceil((countedMs * (ofDate / 1_000)) / daySeconds),
  },
}
