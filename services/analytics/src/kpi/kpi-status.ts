import type { KpiDirection, KpiState, KpiStatus, KpiTarget, Quantity } from '@opsplane/contracts'
import { compareQuantities, divide, parseDecimal, toQuantity } from '../decimal/decimal.js'
import { dateAt } from '../query/local-days.js'
import type { TimePeriod } from './period.js'

/** The target valid on the last day of the period, by the clock of the zone; `undefined` if there was none yet. */
export function findTarget(
  { targets, timeZone }: Pick<KpiState, 'targets' | 'timeZone'>,
  { to }: TimePeriod,
): KpiTarget | undefined {
  const day = dateAt(timeZone, to - 1)
  return targets.filter(({ from }) => from <= day).toSorted((a, b) => (a.from < b.from ? 1 : -1))[0]
}

export function computeStatus(
  value: Quantity | null,
  target: KpiTarget | undefined,
  direction: KpiDirection,
): KpiStatus {
  if (value === null) return 'no_data'
  if (!target) return 'no_target'
  const reaches = (threshold: Quantity) => {
    const comparison = compareQuantities(value, threshold)
    return direction === 'up' ? comparison >= 0 : comparison <= 0
  }
  if (reaches(target.value)) return 'on_target'
  return target.warning !== undefined && reaches(target.warning) ? 'at_risk' : 'off_target'
}

/** Whether a status compares a value with its target. */
export const isKnown = (status: KpiStatus): boolean => status !== 'no_data' && status !== 'no_target'

/** Whether the change of status is an event. A KPI that starts on target has not crossed anything. */
export const isCrossing = (before: KpiStatus, after: KpiStatus): boolean =>
  before !== after && (isKnown(before) || after !== 'on_target')

export interface Trend {
  change: Quantity | null
  ratio: Quantity | null
  direction: 'better' | 'worse' | 'steady' | null
}

/** Trend from the previous value to the latest. */
export function computeTrend(
  latest: Quantity | null,
  before: Quantity | null,
  direction: KpiDirection,
): Trend {
  const [to, from] = [parseDecimal(latest), parseDecimal(before)]
  if (!to || !from) return { change: null, ratio: null, direction: null }
  const change = to.minus(from)
  const isBetter = direction === 'up' ? change.isPositive() : change.isNegative()
  return {
    change: toQuantity(change),
    ratio: divide(change, from.abs()),
    direction: change.isZero() ? 'steady' : isBetter ? 'better' : 'worse',
  }
}
