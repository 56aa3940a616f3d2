import {
  type Attributes,
  type Context,
  context,
  createContextKey,
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
  /** Runs something whose spans and log lines belong to it, with all it awaits. */
  run<Result>(work: () => Result): Result
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
  run: (work) => work(),
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
const tracerKey = createContextKey('opsplane tracer')

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
  const within = trace.setSpan(parent.setValue(tracerKey, tracer), span)
  return {
    traceparent: formatTraceparent(span.spanContext()),
    run: (work) => context.with(within, work),
    rename: (changed) => void span.updateName(changed),
    end: (error) => ended(span, error),
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

/** A span of what is under way here, if that is followed; ends with what `work` returns or resolves to. */
export function inSpan<Result>(name: string, options: SpanOptions, work: () => Result): Result {
  const active = context.active()
  const tracer = active.getValue(tracerKey) as Tracer | undefined
  return tracer ? endingWith(begin(tracer, active, name, options), work) : work()
}

/** Runs something in a span, which ends with what it returns or resolves to. */
export function endingWith<Result>(traced: Traced, work: () => Result): Result {
  try {
    const result = traced.run(work)
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

/** What is to be passed on so that what follows belongs to what is under way here; undefined where nobody follows it. */
export function currentTraceparent(): string | undefined {
  const span = trace.getSpan(context.active())
  return span && formatTraceparent(span.spanContext())
}

/** Runs things later as parts of what is under way now. */
export function captureNow(): <Result>(work: () => Result) => Result {
  const now = context.active()
  return (work) => (now === ROOT_CONTEXT ? work() : context.with(now, work))
}

/** By which log lines are found from a trace; nothing where nobody follows it. */
export function traceFields(): { trace_id?: string; span_id?: string } {
  const span = trace.getSpan(context.active())
  if (!span) return {}
  const { traceId, spanId } = span.spanContext()
  return { trace_id: traceId, span_id: spanId }
}
