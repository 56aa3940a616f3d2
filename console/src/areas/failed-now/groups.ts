import type { FailureGroup } from '../../api/api.js'
import { texts } from '../../texts/en.js'

type Counted = Pick<FailureGroup, 'count' | 'isMore'>

/** How many there are in all, and whether that is the least. */
export function totalOf(groups: readonly Counted[], hasMore: boolean): Counted {
  return {
    count: groups.reduce((sum, { count }) => sum + count, 0),
    isMore: hasMore || groups.some(({ isMore }) => isMore),
  }
}

const causes: Readonly<Record<string, unknown>> = texts.causes

/** In words of the console where it has some for the code, else as the service says it. */
export function causeOf({ code, message }: FailureGroup['cause']): string {
  const words = causes[code]
  return typeof words === 'string' ? words : message
}

/** From where to where of the time since the first failure they lie, in percent: up to the end where it still fails. */
export function spanOf(
  { firstAt, lastAt }: Pick<FailureGroup, 'firstAt' | 'lastAt'>,
  nowMs: number,
): { untilPercent: number } {
  const first = Date.parse(firstAt)
  const length = Math.max(nowMs - first, 1)
  return { untilPercent: Math.min(((Date.parse(lastAt) - first) / length) * 100, 100) }
}
