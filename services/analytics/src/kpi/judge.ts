import type { KpiDirection, KpiState, KpiStatus, KpiTarget } from '@opsplane/contracts'
import { type Covered, dateAt } from './period.js'

/** The target that held on the last day of what a value covers, by the clock of the zone; undefined for none yet. */
export function targetFor(
  { targets, timeZone }: Pick<KpiState, 'targets' | 'timeZone'>,
  { to }: Covered,
): KpiTarget | undefined {
  const day = dateAt(timeZone, to - 1)
  return targets.filter(({ from }) => from <= day).toSorted((a, b) => (a.from < b.from ? 1 : -1))[0]
}

export function statusOf(
  value: number | null,
  target: KpiTarget | undefined,
  direction: KpiDirection,
): KpiStatus {
  if (value === null) return 'no_data'
  if (!target) return 'no_target'
  const reaches = (threshold: number) => (direction === 'up' ? value >= threshold : value <= threshold)
  if (reaches(target.value)) return 'on_target'
  return target.warning !== undefined && reaches(target.warning) ? 'at_risk' : 'off_target'
}

/** Whether a status says where a value stands towards its target. */
export const isKnown = (status: KpiStatus): boolean => status !== 'no_data' && status !== 'no_target'

/** Whether somebody has to know: a KPI that begins on its target has crossed nothing. */
export const isCrossing = (before: KpiStatus, after: KpiStatus): boolean =>
  before !== after && (isKnown(before) || after !== 'on_target')

export interface Trend {
  change: number | null
  ratio: number | null
  direction: 'better' | 'worse' | 'steady' | null
}

/** From the value before to the latest. */
export function trendOf(latest: number | null, before: number | null, direction: KpiDirection): Trend {
  if (latest === null || before === null) return { change: null, ratio: null, direction: null }
  const change = latest - before
  const isBetter = direction === 'up' ? change > 0 : change < 0
  return {
    change,
    ratio: before === 0 ? null : change / Math.abs(before),
    direction: change === 0 ? 'steady' : isBetter ? 'better' : 'worse',
  }
}
