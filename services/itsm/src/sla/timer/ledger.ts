import type { SlaClockState, SlaInterval, SlaLedgerEntry } from '@opsplane/contracts'
import type { Calendar } from '../../calendar/calendar.js'

type Ledger = readonly SlaLedgerEntry[]

interface Stretch {
  entry: SlaLedgerEntry
  from: number
  /** `null` if the entry is still current. */
  to: number | null
}

function stretches(ledger: Ledger): Stretch[] {
  return ledger.map((entry, index) => {
    const next = ledger[index + 1]
    return { entry, from: Date.parse(entry.from), to: next ? Date.parse(next.from) : null }
  })
}

const running = (state: SlaClockState) => state === 'running'

/** Returns the time counted until an instant, in milliseconds. */
export function elapsedMs(ledger: Ledger, calendar: Calendar, until: number): number {
  return stretches(ledger)
    .filter(({ entry }) => running(entry.state))
    .reduce((sum, { from, to }) => sum + calendar.businessMsBetween(from, Math.min(to ?? until, until)), 0)
}

/**
 * Returns the first instant by which the clock has counted `ms`: in the past, or in the future if it keeps running.
 * Returns `null` if the clock does not reach it in its current state.
 */
export function reachedAt(ledger: Ledger, calendar: Calendar, ms: number): number | null {
  let left = ms
  for (const { entry, from, to } of stretches(ledger)) {
    if (!running(entry.state)) continue
    if (to === null) return calendar.addBusinessMs(from, left)
    const countedMs = calendar.businessMsBetween(from, to)
    if (countedMs >= left) return calendar.addBusinessMs(from, left)
    left -= countedMs
  }
  return null
}

/** A ledger entry with more open spans than this is reported as a single interval. */
const maxParts = 400

/**
 * Returns the intervals of the clock until an instant: running in open hours, closed hours, and pauses. The counted
 * times add up to the elapsed time.
 */
export function intervals(ledger: Ledger, calendar: Calendar, until: number): SlaInterval[] {
  return stretches(ledger).flatMap(({ entry, from, to }) => {
    const { state, reason, eventId } = entry
    const end = Math.max(from, Math.min(to ?? until, until))
    const interval = (from: number, to: number, state: SlaInterval['state'], countedMs: number) => ({
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      state,
      countedMs,
      reason: state === 'closed' ? 'outside open hours' : reason,
      eventId,
    })
    if (end === from) return []
    if (!running(state)) return [interval(from, end, state, 0)]
    const open = calendar.openBetween(from, end)
    if (open.length > maxParts) return [interval(from, end, state, calendar.businessMsBetween(from, end))]
    const parts: SlaInterval[] = []
    let at = from
    for (const span of open) {
      if (span.from > at) parts.push(interval(at, span.from, 'closed', 0))
      parts.push(interval(span.from, span.to, state, calendar.businessMsBetween(span.from, span.to)))
      at = span.to
    }
    if (end > at) parts.push(interval(at, end, 'closed', 0))
    return parts
  })
}
