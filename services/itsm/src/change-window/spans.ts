import type { Span } from '../calendar/calendar.js'

export type { Span }

/** Stretches that only touch do not overlap: the end of each is not part of it. */
export const overlap = (left: Span, right: Span): boolean => left.from < right.to && right.from < left.to

/** What two stretches have in common; null when nothing. */
export function intersectSpans(left: Span, right: Span): Span | null {
  const span = { from: Math.max(left.from, right.from), to: Math.min(left.to, right.to) }
  return span.to > span.from ? span : null
}

/** In order, with those that overlap or touch as one. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const result: Span[] = []
  for (const { from, to } of spans.toSorted((left, right) => left.from - right.from)) {
    const last = result.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

/** Whether one stretch of `spans`, as they were merged, holds all of it. */
export const containsSpan = (spans: readonly Span[], { from, to }: Span): boolean =>
  spans.some((span) => span.from <= from && to <= span.to)
