import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { formatTraceparent, parseTraceparent } from './traceparent.js'

export interface SpanOptions {
  /** `client` and `producer` ask somebody else, `server` and `consumer` were asked. */
  kind?: 'server' | 'client' | 'producer' | 'consumer'
  attributes?: Attributes
}

/** A span that is under way, or nothing where nobody follows it. */
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

/** For where nobody listens. */
export const noTracing: Tracing = {
  enabled: false,
  follow: () => untraced,
  enter: () => untraced,
  close: async () => {},
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}

/** Who has begun the spans that are under way, by their traceparents: spans within them are begun by the same. */
const underWay = new Map<string, Tracer>()

function begin(
  tracer: Tracer,
  parent: Context,
  name: string,
  { kind, attributes }: SpanOptions = {},
): Traced {
  const span = tracer.startSpan(
    name,
    { kind: kind ? kinds[kind] : SpanKind.INTERNAL, ...(attributes && { attributes }) },
    parent,
  )
  const traceparent = formatTraceparent(span.spanContext())
  underWay.set(traceparent, tracer)
  return {
    traceparent,
    rename: (changed) => void span.updateName(changed),
    end(error) {
      underWay.delete(traceparent)
      ended(span, error)
    },
  }
}

function ended(span: Span, error: unknown): void {
  // Of an error only its kind: what it says may hold what a tenant has written.
  if (error !== undefined)
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'Error' })
  span.end()
}

/** Whether a request is followed; `asked`: its caller follows it and would like us to. */
export type Choice = (asked: boolean) => boolean

export function createTracing(tracer: Tracer, choose: Choice, close: () => Promise<void>): Tracing {
  return {
    enabled: true,
    follow(name, traceparent, options) {
      const parent = parseTraceparent(traceparent)
      if (!parent?.sampled) return untraced
      return begin(tracer, trace.setSpanContext(ROOT_CONTEXT, parent.context), name, options)
    },
    enter(name, traceparent, options) {
      const parent = parseTraceparent(traceparent)
      if (!choose(parent?.sampled ?? false)) return untraced
      return begin(
        tracer,
        parent ? trace.setSpanContext(ROOT_CONTEXT, parent.context) : ROOT_CONTEXT,
        name,
        options,
      )
    },
    close,
  }
}

/**
 * A span within the one that `parent` names, where that is under way here; ends with what `work` returns or resolves to. `work` gets what
 * others are to be given: the traceparent of this span, or else `parent` as it is.
 */
export function inSpan<Result>(
  name: string,
  parent: string | undefined,
  work: (traceparent: string | undefined) => Result,
  options?: SpanOptions,
): Result {
  const tracer = parent === undefined ? undefined : underWay.get(parent)
  const remote = tracer && parseTraceparent(parent)
  if (!remote) return work(parent)
  const traced = begin(tracer, trace.setSpanContext(ROOT_CONTEXT, remote.context), name, options)
  return endingWith(traced, () => work(traced.traceparent))
}

/** Runs something that a span is of: it ends with what that returns or resolves to. */
export function endingWith<Result>(traced: Traced, work: () => Result): Result {
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
export function causedBy(eventId: string, { traceparent }: Traced): () => void {
  if (traceparent === undefined) return () => {}
  handled.set(eventId, traceparent)
  return () => {
    // Of several consumers of a process the last one to begin is the one it is known by.
    if (handled.get(eventId) === traceparent) handled.delete(eventId)
  }
}

/** What something belongs to that an event causes; undefined where the event is not being handled here, or nobody follows it. */
export const traceparentOfCause = (eventId: string | null | undefined): string | undefined =>
  handled.size === 0 || typeof eventId !== 'string' ? undefined : handled.get(eventId)

/** By which log lines are found from a trace; nothing where nobody follows it. */
export function traceFields(traceparent: string | undefined): { trace_id?: string; span_id?: string } {
  const { context } = parseTraceparent(traceparent) ?? {}
  return context ? { trace_id: context.traceId, span_id: context.spanId } : {}
}
