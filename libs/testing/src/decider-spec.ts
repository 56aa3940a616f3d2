import { deepStrictEqual, fail } from 'node:assert/strict'
import { ApiError, type Decider, type Decision, type ErrorCode } from '@opsplane/contracts'

/** One expected decision, given as its changes: the aggregate after it equals the one before plus `changes`. */
export interface ExpectedDecision<State> {
  type: string
  /** `null`: the aggregate is deleted. */
  changes: Partial<State> | null
  extras?: Record<string, unknown>
}

export interface Outcome<State> {
  /** Expects exactly these decisions, in this order, and no other changes. Without arguments: expects no decision. */
  emits(...expected: ExpectedDecision<State>[]): void
  /** Expects an ApiError with this code; `params` are those of its first detail. */
  fails(code: ErrorCode, params?: Record<string, unknown>): void
  /** The decisions, for assertions `emits` cannot express. Throws the decider's errors. */
  decisions(): Decision<State>[]
}

/**
 * Given/when/then for a decider: `specify(incident).given(open).when(resolve).emits({ … })`.
 * The given state is frozen, so a decider that mutates it fails.
 */
export function specify<State extends { id: string }, Command, Resource>(
  decider: Decider<State, Command, Resource>,
) {
  return {
    given: (state: State | null) => ({
      when: (command: Command) =>
        outcome(() => decider.decide(deepFreeze(command), deepFreeze(state)), state),
    }),
  }
}

function outcome<State extends object>(
  decide: () => Decision<State>[],
  initialState: State | null,
): Outcome<State> {
  return {
    decisions: decide,
    emits(...expected) {
      let state = initialState
      const expectedEvents = expected.map(({ type, changes, extras }) => {
        state = changes === null ? null : ({ ...state, ...changes } as State)
        return extras === undefined ? { type, after: state } : { type, after: state, extras }
      })
      deepStrictEqual(decide(), expectedEvents)
    },
    fails(code, params) {
      const error = thrownBy(decide)
      deepStrictEqual(error.code, code)
      if (params !== undefined) deepStrictEqual(error.details[0]?.params, params)
    },
  }
}

function thrownBy(decide: () => unknown): ApiError {
  let decided: unknown
  try {
    decided = decide()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  return fail(`Expected an error, but it decided ${JSON.stringify(decided)}`)
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
