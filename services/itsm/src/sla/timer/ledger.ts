import type { SlaClockState, SlaInterval, SlaLedgerEntry } from '@opsplane/contracts'
import type { Calendar } from '../../calendar/calendar.js'

type Ledger = readonly SlaLedgerEntry[]

interface Stretch {
  entry: SlaLedgerEntry
  from: number
  /** Null: it goes on. */
  to: number | null
}

function stretches(ledger: Ledger): Stretch[] {
  return ledger.map((entry, index) => {
    const next = ledger[index + 1]
    return { entry, from: Date.parse(entry.from), to: next ? Date.parse(next.from) : null }
  })
}

const running = (state: SlaClockState) => state === 'running'

/** What is counted until an instant. */
export function elapsedMs(ledger: Ledger, calendar: Calendar, until: number): number {
  return stretches(ledger)
    .filter(({ entry }) => running(entry.state))
    .reduce((sum, { from, to }) => sum + calendar.businessMsBetween(from, Math.min(to ?? until, until)), 0)
}

/**
 * The first instant by which the clock has counted so much: in the past, or to come if it runs on from here.
 * Null when it does not get there as things are.
 */
export function reachedAt(ledger: Ledger, calendar: Calendar, ms: number): number | null {
  let left = ms
  for (const { entry, from, to } of stretches(ledger)) {
    if (!running(entry.state)) continue
    if (to === null) return calendar.addBusinessMs(from, left)
    const counted = calendar.businessMsBetween(from, to)
    if (counted >= left) return calendar.addBusinessMs(from, left)
    left -= counted
  }
  return null
}

/** A stretch with more parts than this is reported as one. */
const maxParts = 400

/** What the clock did until an instant: running within open hours, closed hours, pauses. Counted times add up to the elapsed. */
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
