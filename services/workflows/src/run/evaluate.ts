import { tenantKey } from '@opsplane/contracts'
import { delay, retryDelayMs } from '@opsplane/runtime'
import type { Expressions } from '@opsplane/sandbox'
import type { Signal } from '../engine/signal.js'
import type { Task } from '../engine/task.js'
import type { ActiveRun } from './active-run.js'

export type EvaluateTask = Extract<Task, { kind: 'evaluate' }>

/** Evaluates the expressions of a step. Rejects only when aborted, with the reason of `aborted`. */
export type Evaluate = (
  run: Pick<ActiveRun, 'identity' | 'folded'>,
  task: EvaluateTask,
  aborted?: AbortSignal,
) => Promise<Signal>

/** Delay between attempts after failures not caused by the step. */
export const pause = { strategy: 'exponential', baseMs: 200, maxMs: 10_000 } as const

/** Errors that say nothing about the expression itself. */
const passing = new Set(['expression_unavailable', 'expression_overloaded'])

export const createEvaluate =
  (expressions: Pick<Expressions, 'evaluate'>): Evaluate =>
  async ({ identity: { tenant }, folded }, task, aborted) => {
    for (let attempt = 1; ; attempt++) {
      const values = await expressions.evaluate({
        templates: task.templates,
        scope: task.scope,
        tenant: tenantKey(tenant),
        signal: aborted,
        // The result of a transform is not sent anywhere; steps that send it are checked later.
        secretReferences: folded.stepAt(task.place)?.type === 'transform' ? 'keep' : 'refuse',
      })
      aborted?.throwIfAborted()
      if (!values.some((value) => !value.ok && passing.has(value.error.code)))
        return { kind: 'evaluated', task: task.id, values }
      await delay(retryDelayMs({ ...pause, attempt }), aborted)
      aborted?.throwIfAborted()
    }
  }
