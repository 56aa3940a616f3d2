import { type EffectStep, stringifyExact } from '@opsplane/contracts'
import { delay, type Logger, retryDelayMs, secretsFoundIn } from '@opsplane/runtime'
import { endSpanWith, type Tracing, traceFields } from '@opsplane/telemetry'
import type { Outcome, Signal } from '../engine/signal.js'
import type { Task } from '../engine/task.js'
import type { ActiveRun, WorkTask } from './active-run.js'
import { type Evaluate, pause } from './evaluate.js'
import { maxValueBytes } from './journal-lines.js'
import { type Effect, toFailure } from './perform/effect.js'

export type Effects = { [Type in EffectStep['type']]: Effect<Extract<EffectStep, { type: Type }>> }

/** The rights a run currently acts with, and their grant; `null` if it has none. */
export type GiverOf = (
  run: Pick<ActiveRun, 'identity' | 'origin'>,
) => Promise<{ grant: string; userId: string } | null>

export interface WorkOptions {
  evaluate: Evaluate
  effects: Effects
  giverOf: GiverOf
  /** Starts the run of a step `workflow`, unless it was started before. Throws if it cannot be started. */
  startChild(run: ActiveRun, task: StartTask): Promise<{ runId: string }>
  /** Records the duration of a finished step. */
  recordDuration(type: EffectStep['type'], seconds: number): void
  tracing: Tracing
  log: Logger
}

export type StartTask = Extract<Task, { kind: 'start_run' }>
type PerformTask = Extract<Task, { kind: 'perform' }>

/** Maximum number of polls for a response in flight: some minutes, longer than any service locks a key. */
const maxPolls = 30

/** Performs tasks. Rejects only when aborted, with the reason of `aborted`. */
export function createWork({
  evaluate,
  effects,
  giverOf,
  startChild,
  recordDuration,
  tracing,
  log,
}: WorkOptions) {
  async function perform(run: ActiveRun, task: PerformTask, aborted: AbortSignal): Promise<Signal> {
    const { input, key, timeoutMs } = task
    const { identity, origin } = run
    const startedAt = performance.now()
    const concealed = new Set<string>()
    const act = async () => {
      const giver = await giverOf(run)
      const traced = tracing.follow(`step ${task.step.type}`, origin.traceparent)
      const { traceparent } = traced
      const call = {
        run: identity,
        origin,
        input,
        key,
        timeoutMs,
        grant: giver?.grant ?? null,
        userId: giver?.userId ?? '',
        traceparent,
        conceal: (values: readonly string[]) => {
          for (const value of values) concealed.add(value)
        },
        signal: aborted,
      }
      return endSpanWith(traced, () => dispatch(effects, task.step, call))
    }
    let outcome = await attempt(run, aborted, act)
    // The key may be locked by a worker or service that has crashed; that lock expires.
    for (let tries = 1; tries <= maxPolls && isUnderWay(outcome); tries++) {
      await delay(retryDelayMs({ ...pause, attempt: tries }), aborted)
      aborted.throwIfAborted()
      outcome = await attempt(run, aborted, act)
    }
    recordDuration(task.step.type, (performance.now() - startedAt) / 1_000)
    const secrets = concealed.size > 0 ? secretsFoundIn(stringifyExact(outcome), concealed) : []
    return { kind: 'performed', task: task.id, outcome, ...(secrets.length > 0 && { secrets }) }
  }

  async function attempt(
    run: ActiveRun,
    aborted: AbortSignal,
    act: () => Promise<unknown>,
  ): Promise<Outcome> {
    try {
      return capped((await act()) ?? null)
    } catch (error) {
      aborted.throwIfAborted()
      const outcome = toFailure(error)
      if (!outcome.ok && outcome.error.code === 'internal_error')
        log.error(
          { err: error, run: run.identity.id, ...traceFields(run.origin.traceparent) },
          'a step of a run could not be performed',
        )
      return outcome
    }
  }

  async function start(run: ActiveRun, task: StartTask, aborted: AbortSignal): Promise<Signal> {
    let outcome = await attempt(run, aborted, () => startChild(run, task))
    // The key makes it safe to retry indefinitely.
    for (let tries = 1; !outcome.ok && outcome.error.retryable; tries++) {
      await delay(retryDelayMs({ ...pause, attempt: tries }), aborted)
      aborted.throwIfAborted()
      outcome = await attempt(run, aborted, () => startChild(run, task))
    }
    if (!outcome.ok) return { kind: 'child_started', task: task.id, outcome }
    const { runId } = outcome.output as { runId: string }
    return { kind: 'child_started', task: task.id, outcome: { ok: true, runId } }
  }

  return (run: ActiveRun, task: WorkTask, aborted: AbortSignal): Promise<Signal> => {
    if (task.kind === 'evaluate') return evaluate(run, task, aborted)
    return task.kind === 'perform' ? perform(run, task, aborted) : start(run, task, aborted)
  }
}

function dispatch(effects: Effects, step: EffectStep, call: Omit<Parameters<Effect<EffectStep>>[0], 'step'>) {
  switch (step.type) {
    case 'http':
      return effects.http({ ...call, step })
    case 'api':
      return effects.api({ ...call, step })
    case 'connector':
      return effects.connector({ ...call, step })
    case 'artifact':
      return effects.artifact({ ...call, step })
    case 'publish':
      return effects.publish({ ...call, step })
  }
}

/** A request with the same key was sent before, and its outcome is not known yet. */
const isUnderWay = (outcome: Outcome): boolean =>
  !outcome.ok && outcome.error.code === 'idempotency_in_progress'

/** Returns the output of an effect, or an error if it exceeds the maximum size of a value in a run. */
function capped(output: unknown): Outcome {
  const bytes = Buffer.byteLength(stringifyExact(output))
  if (bytes <= maxValueBytes) return { ok: true, output }
  const message = `The output has ${bytes} bytes; at most ${maxValueBytes} are stored.`
  return { ok: false, error: { code: 'output_too_large', message, retryable: false } }
}
