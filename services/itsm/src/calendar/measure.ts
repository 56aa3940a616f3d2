import type { SlaGoalUnit } from '@opsplane/contracts'

/** How the open time of a date counts. Both are whole numbers, so that what is counted piece by piece adds up. */
export interface TimeMeasure {
  /** What the first so many open milliseconds count of a date that has `ofDate` of them. */
  counted(openMs: number, ofDate: number): number
  /** The least open time of the date that counts so much. */
  needed(counted: number, ofDate: number): number
}

const daySeconds = 86_400

/** Milliseconds, as clocks count them, in one of what goals are given in. */
export const goalUnitMs = { minutes: 60_000, business_days: daySeconds * 1_000 }

export const timeMeasures: Record<SlaGoalUnit, TimeMeasure> = {
  minutes: { counted: (openMs) => openMs, needed: (counted) => counted },
  // Hours are whole minutes and offsets change at whole seconds: divided by seconds, no product is beyond exact integers.
  business_days: {
    counted: (openMs, ofDate) => Math.floor((openMs * daySeconds) / (ofDate / 1_000)),
    needed: (counted, ofDate) => Math.ceil((counted * (ofDate / 1_000)) / daySeconds),
  },
}
