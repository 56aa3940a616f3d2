import { sha256Hex } from '@opsplane/runtime'
import type { ApprovalDecision, StepError } from '../history.js'
import type { Outcome } from '../signal.js'

/**
 * Outside events with their times. Determined by a seed and the call, so that every engine receives the
 * same answers.
 */
export interface SimulatedWorld {
  /** Duration of a call in milliseconds; rarely the same twice. */
  duration(what: string): number
  /** Outcome of an attempt. */
  outcome(what: string): Outcome
  /** When an awaited event arrives; `null` for never. */
  event(what: string): { afterMs: number; event: unknown } | null
  decisions(what: string): { afterMs: number; decision: ApprovalDecision }[]
}

export interface SimulatedWorldOptions {
  seed: number
  /** Share of attempts that fail, and the share of these that are retryable. */
  failing: number
  retryable: number
}

const longestMs = 10_000_000

export function createSimulatedWorld({ seed, failing, retryable }: SimulatedWorldOptions): SimulatedWorld {
  const chance = (what: string) => Number.parseInt(sha256Hex(`${seed}:${what}`).slice(0, 12), 16) / 2 ** 48
  const duration = (what: string) => 1 + Math.floor(chance(`time:${what}`) * longestMs)
  const failure = (what: string): { ok: false; error: StepError } => ({
    ok: false,
    error: {
      code: `broken_${Math.floor(chance(`code:${what}`) * 3)}`,
      message: what,
      retryable: chance(`retryable:${what}`) < retryable,
      ...(chance(`after:${what}`) < 0.3 && { retryAfterMs: duration(`after:${what}`) }),
    },
  })
  const outcome = (what: string): Outcome =>
    chance(`fails:${what}`) < failing ? failure(what) : { ok: true, output: `output of ${what}` }
  return {
    duration,
    outcome,
    event: (what) =>
      chance(`never:${what}`) < failing ? null : { afterMs: duration(`event:${what}`), event: { of: what } },
    decisions: (what) =>
      ['usr_a', 'usr_b', 'usr_a', 'usr_c'].map((by, index) => ({
        afterMs: duration(`decision:${what}:${index}`),
        decision: {
          by,
          decision: chance(`rejects:${what}:${index}`) < failing ? 'reject' : 'approve',
          comment: null,
        },
      })),
  }
}
