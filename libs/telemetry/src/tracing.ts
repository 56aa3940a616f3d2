import type { SpanContext } from '@opentelemetry/api'
import { RecordedSpan, type SpanOptions, type SpanSink } from './span.js'
import { formatTraceparent, parseTraceparent } from './traceparent.js'

export type { SpanOptions } from './span.js'

/** An open span, or a no-op if tracing is off or the request is not sampled. */
export interface Traced {
  /** Passed to others, so that their spans become children of this one. */
  readonly traceparent: string | undefined
  rename(name: string): void
  /** Ends the span; with an error, as failed. Later calls change nothing. */
  end(error?: unknown): void
}

/** Begins spans of one service. */
export interface Tracing {
  readonly enabled: boolean
  /** Begins a child of the span named by `traceparent` if that is sampled; otherwise returns a no-op. */
  follow(name: string, traceparent: string | null | undefined, options?: SpanOptions): Traced
  /** Begins a trace, or continues a caller's, if the sampler selects it. */
  enter(name: string, traceparent: string | undefined, options?: SpanOptions): Traced
  /** Exports the remaining spans. Call it once. */
  close(): Promise<void>
}

const untraced: Traced = {
  traceparent: undefined,
  rename: () => {},
  end: () => {},
}

/** Used if tracing is off. */
export const noTracing: Tracing = {
  enabled: false,
  follow: () => untraced,
  enter: () => untraced,
  close: async () => {},
}

/** Open spans by their traceparents: nested spans are sent to the same sink. */
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

/** Decides whether a request is traced; `isRequested`: its caller traces it and requests the same. */
export type Sampler = (isRequested: boolean) => boolean

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
 * Runs `work` in a child span of `parent`, if that span is open in this process; the span ends when `work` returns or
 * its promise settles. `work` receives the traceparent to pass on: that of the new span, or else `parent` unchanged.
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

/** Runs `work` and ends the span when it returns or its promise settles. */
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

/** By event id: the traceparents of traced events that are being handled. */
const handled = new Map<string, string>()

/** Links consequences of an event in this process to a span, until the returned function is called. */
export function registerCause(eventId: string, { traceparent }: Traced): () => void {
  if (traceparent === undefined) return () => {}
  handled.set(eventId, traceparent)
  return () => {
    // If several consumers of a process handle the event, the last one to begin is used.
    if (handled.get(eventId) === traceparent) handled.delete(eventId)
  }
}

/**
 * The traceparent for consequences of an event; `undefined` if the event is not being
 * handled in this process or not traced.
 */
export const traceparentOfCause = (eventId: string | null | undefined): string | undefined =>
  handled.size === 0 || typeof eventId !== 'string' ? undefined : handled.get(eventId)

/** Fields that link log lines to a trace; empty if nothing is traced. */
export function traceFields(traceparent: string | undefined): { trace_id?: string; span_id?: string } {
  const { context } = parseTraceparent(traceparent) ?? {}
  return context ? { trace_id: context.traceId, span_id: context.spanId } : {}
}
