import { assertNever } from '@opsplane/contracts'
import { findTaskStep } from './active-steps.js'
import { answerTask } from './answers.js'
import { tick } from './due.js'
import type { Entry, Retry } from './history.js'
import type { RunMemory } from './memory.js'
import { outputId, type Program } from './program.js'
import { allowedRunActions, isFinal } from './run-states.js'
import type { Signal } from './signal.js'
import { computeStatus } from './summary.js'

export interface HistoryLimits {
  entries: number
  /** Size of the JSON of its entries. */
  bytes: number
}
export const historyLimits: HistoryLimits = { entries: 50_000, bytes: 32 * 1024 * 1024 }

/**
 * Decides on a signal: returns the entries to record together, with `now` as their `at`; none if the signal changes
 * nothing because it is late, repeated or no longer expected. Does not change the run. `now`: Unix milliseconds.
 */
export function decide(
  program: Program,
  memory: RunMemory,
  signal: Signal,
  { now, limits = historyLimits }: { now: number; limits?: HistoryLimits },
): Entry[] {
  memory.meter.operations += 1
  const entries = follow(program, memory, signal, now)
  const tooLong = memory.seq + entries.length > limits.entries || memory.bytes > limits.bytes
  if (!tooLong || entries.length === 0 || entries.at(-1)?.kind === 'ended') return entries
  return memory.stage === 'ended' ? [] : [dead('history_too_long', tooLongMessage(limits))]
}

function follow(program: Program, memory: RunMemory, signal: Signal, now: number): Entry[] {
  switch (signal.kind) {
    case 'start':
      return memory.stage === 'queued' ? [{ kind: 'started' }] : []
    case 'tick':
      return tick(program, memory, now)
    case 'cancel':
      return cancel(memory, signal)
    case 'retry':
      return mayRetry(memory, signal) ? [{ ...signal, kind: 'retried' }] : []
    case 'abandon':
      return isFinal(computeStatus(memory)) ? [] : [dead(signal.code, signal.message)]
    case 'evaluated':
    case 'performed':
    case 'child_started':
    case 'child_ended':
    case 'event':
    case 'decision': {
      const step = findTaskStep(memory, signal.task)
      return step ? answerTask({ program, memory, now, step }, signal) : []
    }
    default:
      return assertNever(signal)
  }
}

function cancel(memory: RunMemory, { by, reason }: Signal & { kind: 'cancel' }): Entry[] {
  if (!allowedRunActions(computeStatus(memory)).includes('cancel')) return []
  const error = { code: 'run_cancelled', message: reason ?? 'The run was cancelled.', step: null }
  return [
    { kind: 'cancelling', by, reason },
    { kind: 'ended', status: 'cancelled', error },
  ]
}

/** Whether a retry is possible: from a top-level step already reached, or for the remaining steps. */
function mayRetry(memory: RunMemory, { from, parentAttempt = Infinity }: Retry): boolean {
  if (!allowedRunActions(computeStatus(memory)).includes('retry')) return false
  if (parentAttempt <= memory.parentAttempt) return false
  if (from === null) return true
  const row = memory.main?.rows.get(0)
  const position = row?.list.nodes.findIndex(({ id }) => id === from) ?? -1
  return row !== undefined && from !== outputId && position >= 0 && position <= row.position
}

const dead = (code: string, message: string): Entry => ({
  kind: 'ended',
  status: 'dead',
  error: { code, message, step: null },
})

const tooLongMessage = ({ entries, bytes }: HistoryLimits): string =>
  `The history of the run is longer than ${entries} entries or ${bytes} bytes; split it into sub-workflows.`
