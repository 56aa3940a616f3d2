import { stringifyExact } from '@opsplane/contracts'
import type { Budgets } from '@opsplane/runtime'
import type { CodeRun, CodeRunResult } from './run-code.js'

/**
 * Decides what is stored of an ended execution: everything, or no values and logs if the workspace's quota is
 * exhausted.
 */
export type WithinQuota = (
  performance: Pick<CodeRun, 'identity' | 'input'>,
  performed: CodeRunResult,
) => CodeRunResult

/** Triggers whose caller uses the result and can request it again. */
const awaitedTriggers: readonly string[] = ['api', 'manual', 'workflow_node']

export const createTraceQuota =
  ({ fits }: Pick<Budgets, 'fits'>): WithinQuota =>
  ({ identity: { tenant, trigger }, input }, performed) => {
    const { outcome, result } = performed
    const { output, error, logs } = outcome
    if (fits('traceBytesPerDay', tenant, bytesOf([input, output, error, logs]))) return performed
    return {
      ...performed,
      outcome: { ...outcome, output: null, logs: [], omitted: true },
      input: null,
      result: result ?? (awaitedTriggers.includes(trigger.type) ? { output, error } : undefined),
    }
  }

const bytesOf = (values: readonly unknown[]) =>
  values.reduce<number>((sum, value) => sum + stringifyExact(value).length, 0)
