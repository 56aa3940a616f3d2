import { leastDeliveryId } from './delivery-id.js'
import { dayMs, dayOf } from './retention-policy.js'

/** The least ids of the days deliveries can be waiting in, and those of the days after each. */
export interface WaitingDays {
  starts: string[]
  ends: string[]
}

const daysAhead = 2

/** They change once a day: from those kept longest to those made ahead. */
export function createWaitingDays(heldDays: number): (nowMs: number) => WaitingDays {
  let known = Number.NaN
  let days: WaitingDays = { starts: [], ends: [] }
  return (nowMs) => {
    const today = dayOf(nowMs)
    if (today === known) return days
    const first = today - heldDays - 1
    const edges = Array.from({ length: heldDays + daysAhead + 3 }, (_, n) =>
      leastDeliveryId((first + n) * dayMs),
    )
    known = today
    days = { starts: edges.slice(0, -1), ends: edges.slice(1) }
    return days
  }
}
