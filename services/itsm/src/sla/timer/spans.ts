import {
  type RecurringSlaMetric,
  recurringSlaMetrics,
  type SlaClockState,
  type SlaMetric,
  type SlaTimer,
} from '@opsplane/contracts'
import type { SlaFacts, SpanSignal } from '../entity/entity.js'

export const isRecurring = (metric: SlaMetric): metric is RecurringSlaMetric =>
  recurringSlaMetrics.some((recurring) => recurring === metric)

/** Reason of a canceled clock that continues if the policy applies again. */
export const notApplyingReason = 'policy does not apply'

/** Whether the clock's span is open. It also is while the clock does not count because the policy does not apply. */
export function isSpanOpen({ state, ledger }: Pick<SlaTimer, 'state' | 'ledger'>): boolean {
  if (state === 'canceled') return ledger.at(-1)?.reason === notApplyingReason
  return state !== 'completed'
}

/** The state a clock should have, and the reason. */
export interface ClockTarget {
  state: SlaClockState
  reason: string | null
}

/** Returns how the span ends, given its clock and the signal of an event; `null` if it continues. */
export function findSpanEnd(
  timer: Pick<SlaTimer, 'state' | 'ledger'>,
  sign: SpanSignal | undefined,
): ClockTarget | null {
  const { state, ledger } = timer
  if (!isSpanOpen(timer)) return { state, reason: ledger.at(-1)?.reason ?? null }
  if (sign?.is === 'off') return { state: 'canceled', reason: sign.reason }
  // A span that is done while its clock does not count is neither met nor missed.
  if (sign?.is === 'done') return { state: state === 'canceled' ? state : 'completed', reason: sign.reason }
  return null
}

const findSignal = (metric: RecurringSlaMetric, { spans }: SlaFacts) => spans?.[metric]

/** Whether a span is open after an event, given whether one was open before it. */
export function isSpanOpenAfter(metric: RecurringSlaMetric, entity: SlaFacts, before: boolean): boolean {
  const sign = findSignal(metric, entity)
  if (sign === undefined || sign.is === 'held') return before
  return sign.is === 'waiting'
}

/** Returns the part of a history that begins with its last span; empty if there was none. */
export function sinceLastSpan<Event extends { entity: SlaFacts }>(
  metric: RecurringSlaMetric,
  history: readonly Event[],
): readonly Event[] {
  let [underWay, from] = [false, history.length]
  for (const [index, { entity }] of history.entries()) {
    const before = underWay
    underWay = isSpanOpenAfter(metric, entity, before)
    if (underWay && !before) from = index
  }
  return history.slice(from)
}
