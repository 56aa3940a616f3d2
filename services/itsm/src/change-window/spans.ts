import type { Span } from '../calendar/calendar.js'

export type { Span }

/** Spans that only touch do not overlap, because the end of a span is exclusive. */
export const overlap = (left: Span, right: Span): boolean => left.from < right.to && right.from < left.to

/** Returns the intersection of two spans; `null` if they do not overlap. */
export function intersectSpans(left: Span, right: Span): Span | null {
  const span = { from: Math.max(left.from, right.from), to: Math.min(left.to, right.to) }
  return span.to > span.from ? span : null
}

/** Returns the spans in order; overlapping or touching spans are merged. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const result: Span[] = []
  for (const { from, to } of spans.toSorted((left, right) => left.from - right.from)) {
    const last = result.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

/** Whether a single one of the merged `spans` contains the given span completely. */
export const containsSpan = (spans: readonly Span[], { from, to }: Span): boolean =>
  spans.some((span) => span.from <= from && to <= span.to)
