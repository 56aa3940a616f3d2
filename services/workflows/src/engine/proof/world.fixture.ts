import { sha256Hex } from '@opsplane/runtime'
import type { ApprovalDecision, Place, StepError } from '../history.js'
import type { Outcome } from '../signal.js'

/** What happens outside of a run, and when: fixed by a seed, place and attempt, so that whoever asks is given the same. */
export interface World {
  /** How long something takes, in milliseconds: hardly ever the same twice. */
  duration(what: string): number
  /** What an attempt at an effect comes to. */
  outcome(place: Place, attempt: number): Outcome
  /** When an event comes that is waited for; null for never. */
  event(place: Place): { afterMs: number; event: unknown } | null
  child(place: Place): { afterMs: number; outcome: Outcome }
  decisions(place: Place): { afterMs: number; decision: ApprovalDecision }[]
}

export interface WorldOptions {
  seed: number
  /** Share of attempts that fail, and of these that may be repeated. */
  failing: number
  retryable: number
}

const longestMs = 10_000_000

export function createWorld({ seed, failing, retryable }: WorldOptions): World {
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
    outcome: (place, attempt) => outcome(`${place} ${attempt}`),
    event: (place) =>
      chance(`never:${place}`) < failing
        ? null
        : { afterMs: duration(`event:${place}`), event: { of: place } },
    child: (place) => ({ afterMs: duration(`child:${place}`), outcome: outcome(`child ${place}`) }),
    decisions: (place) =>
      ['usr_a', 'usr_b', 'usr_a', 'usr_c'].map((by, index) => ({
        afterMs: duration(`decision:${place}:${index}`),
        decision: {
          by,
          decision: chance(`rejects:${place}:${index}`) < failing ? 'reject' : 'approve',
          comment: null,
        },
      })),
  }
}
