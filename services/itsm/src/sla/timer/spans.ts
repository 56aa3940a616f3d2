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

/** Why a clock is canceled that goes on should the policy apply again. */
export const notApplyingReason = 'policy does not apply'

/** Whether the clock's span is open, also while it does not count because the policy does not apply. */
export function isSpanOpen({ state, ledger }: Pick<SlaTimer, 'state' | 'ledger'>): boolean {
  if (state === 'canceled') return ledger.at(-1)?.reason === notApplyingReason
  return state !== 'completed'
}

/** What a clock is to do, and why. */
export interface ClockTarget {
  state: SlaClockState
  reason: string | null
}

/** What a span has come to, by what its clock knows and an event tells; null while it goes on. */
export function findSpanEnd(
  timer: Pick<SlaTimer, 'state' | 'ledger'>,
  sign: SpanSignal | undefined,
): ClockTarget | null {
  const { state, ledger } = timer
  if (!isSpanOpen(timer)) return { state, reason: ledger.at(-1)?.reason ?? null }
  if (sign?.is === 'off') return { state: 'canceled', reason: sign.reason }
  // What is done while no clock counts is neither kept nor missed.
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

/** The part of a history that begins with its last span; nothing when there was none. */
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
