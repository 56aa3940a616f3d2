import type { SpanContext } from '@opentelemetry/api'
import { RecordedSpan, type SpanOptions, type SpanSink } from './span.js'
import { formatTraceparent, parseTraceparent } from './traceparent.js'

export type { SpanOptions } from './span.js'

/** An open span, or a no-op where nothing is traced. */
export interface Traced {
  /** What others are to be given so that theirs belong to it. */
  readonly traceparent: string | undefined
  rename(name: string): void
  /** Ends it; with an error it has failed. Later calls change nothing. */
  end(error?: unknown): void
}

/** Begins spans of one service. */
export interface Tracing {
  readonly enabled: boolean
  /** Belongs to the span that `traceparent` names, where that is sampled; without one nothing is followed. */
  follow(name: string, traceparent: string | null | undefined, options?: SpanOptions): Traced
  /** Begins a trace, or goes on with a caller's: where it is chosen to be followed. */
  enter(name: string, traceparent: string | undefined, options?: SpanOptions): Traced
  /** Sends what is left; once. */
  close(): Promise<void>
}

const untraced: Traced = {
  traceparent: undefined,
  rename: () => {},
  end: () => {},
}

/** Used where tracing is off. */
export const noTracing: Tracing = {
  enabled: false,
  follow: () => untraced,
  enter: () => untraced,
  close: async () => {},
}

/** Open spans by their traceparents: nested spans go to the same sink. */
const underWay = new Map<string, RecordedSpan>()

function begin(
  sink: SpanSink,
  parent: SpanContext | undefined,
  name: string,
  options: SpanOptions = {},
): Traced {
  const span = new RecordedSpan(sink, name, parent, options)
  const traceparent = formatTraceparent(span)
  underWay.set(traceparent, span)
  return {
    traceparent,
    rename(changed) {
      span.name = changed
    },
    end(error) {
      underWay.delete(traceparent)
      span.end(error)
    },
  }
}

/** Whether a request is followed; `asked`: its caller follows it and would like us to. */
export type Sampler = (asked: boolean) => boolean

export function createTracing(sink: SpanSink, choose: Sampler, close: () => Promise<void>): Tracing {
  return {
    enabled: true,
    follow(name, traceparent, options) {
      const parent = parseTraceparent(traceparent)
      return parent?.sampled ? begin(sink, parent.context, name, options) : untraced
    },
    enter(name, traceparent, options) {
      const parent = parseTraceparent(traceparent)
      if (!choose(parent?.sampled ?? false)) return untraced
      return begin(sink, parent?.context, name, options)
    },
    close,
  }
}

/**
 * A span within the one that `parent` names, where that span is open in this process; ends with what `work` returns or resolves to. `work` gets what
 * others are to be given: the traceparent of this span, or else `parent` as it is.
 */
export function inSpan<Result>(
  name: string,
  parent: string | undefined,
  work: (traceparent: string | undefined) => Result,
  options?: SpanOptions,
): Result {
  const within = parent === undefined ? undefined : underWay.get(parent)
  if (!within) return work(parent)
  const traced = begin(within.sink, within.spanContext(), name, options)
  return endSpanWith(traced, () => work(traced.traceparent))
}

/** Runs something that a span is of: it ends with what that returns or resolves to. */
export function endSpanWith<Result>(traced: Traced, work: () => Result): Result {
  if (traced === untraced) return work()
  try {
    const result = work()
    if (result instanceof Promise)
      result.then(
        () => traced.end(),
        (error: unknown) => traced.end(error),
      )
    else traced.end()
    return result
  } catch (error) {
    traced.end(error)
    throw error
  }
}

/** By the ids of events: what is done for those that are being handled and that are followed. */
const handled = new Map<string, string>()

/** Says, until it is called, that what an event causes here belongs to a span. */
export function registerCause(eventId: string, { traceparent }: Traced): () => void {
  if (traceparent === undefined) return () => {}
  handled.set(eventId, traceparent)
  return () => {
    // Of several consumers of a process the last one to begin is the one it is known by.
    if (handled.get(eventId) === traceparent) handled.delete(eventId)
  }
}

/** The trace parent of what an event causes; undefined where the event is not being handled here, or is not traced. */
export const traceparentOfCause = (eventId: string | null | undefined): string | undefined =>
  handled.size === 0 || typeof eventId !== 'string' ? undefined : handled.get(eventId)

/** Fields that link log lines to a trace; none where nothing is traced. */
export function traceFields(traceparent: string | undefined): { trace_id?: string; span_id?: string } {
  const { context } = parseTraceparent(traceparent) ?? {}
  return context ? { trace_id: context.traceId, span_id: context.spanId } : {}
}
