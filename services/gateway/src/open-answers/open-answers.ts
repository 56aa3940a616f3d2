import { ApiError, type Principal } from '@opsplane/contracts'
import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import { buildVerifyKey, type VerifyRequest } from '../token-cache.js'

/** Long-running responses, such as event streams, and checks that their callers are still permitted to receive them. */
export interface OpenAnswers {
  /** Follows a response from its beginning, when its caller was authenticated, to its end. */
  follow(options: FollowedAnswer): OpenAnswer
  /** Invalidates the confirmations of the principals that match. */
  forget(matches: (principal: Principal) => boolean): void
  close(): void
}

export interface FollowedAnswer {
  question: VerifyRequest
  /** The principal at the beginning, whose permissions may all be needed. */
  principal: Principal
  /** Called once the caller may no longer receive the response. */
  refuse(error: ApiError): void
}

export interface OpenAnswer {
  /** Whether the caller was confirmed within the last second. */
  isConfirmed(): boolean
  /** Resolves once the caller is confirmed; rejects if that cannot be determined. */
  confirmed(): Promise<void>
  stop(): void
}

export interface OpenAnswersOptions {
  /** Present permissions of each token, in the order of the requests; null for a rejected token. */
  ask(questions: readonly VerifyRequest[]): Promise<(readonly string[] | null)[]>
  monotonicMs(): number
  timers?: Pick<Timers, 'setTimeout' | 'clearTimeout'>
}

/** The open responses of one token, workspace and environment. */
interface Caller {
  question: VerifyRequest
  principal: Principal
  answers: Set<FollowedAnswer>
  /** When the confirming request to settings was sent. */
  askedAt: number
  /** Number of invalidations: the result of an earlier request confirms nothing. */
  forgotten: number
}

/** Milliseconds for which a confirmation is valid. */
const validMs = 1_000
/** Milliseconds; shorter than the validity, so that no event has to wait for a confirmation. */
const confirmIntervalMs = 750

/** Verifies all callers together, once per token, and at most every 750 ms unless a response waits. */
export function createOpenAnswers(options: OpenAnswersOptions): OpenAnswers {
  const { ask, monotonicMs, timers = systemTimers } = options
  const callers = new Map<string, Caller>()
  let round: Promise<void> | undefined
  let timer: Timer | undefined

  const isConfirmed = ({ askedAt }: Caller) => monotonicMs() - askedAt <= validMs

  const schedule = () => {
    timers.clearTimeout(timer)
    timer = undefined
    if (callers.size === 0) return
    timer = timers.setTimeout(() => void begin().catch(() => {}), confirmIntervalMs)
    timer.unref()
  }
  const begin = (): Promise<void> => {
    round ??= confirmAll().finally(() => {
      round = undefined
      schedule()
    })
    return round
  }
  const confirmAll = async () => {
    const checkedCallers = [...callers.values()]
    const before = checkedCallers.map(({ forgotten }) => forgotten)
    const requestedAt = monotonicMs()
    const allowed = await ask(checkedCallers.map(({ question }) => question))
    for (const [at, caller] of checkedCallers.entries()) {
      if (caller.forgotten !== before[at]) continue
      caller.askedAt = requestedAt
      const permissions = allowed[at] ?? null
      for (const answer of [...caller.answers]) {
        const error = findRefusal(answer.principal, permissions)
        if (error) answer.refuse(error)
      }
    }
  }
  const confirmed = async (caller: Caller) => {
    const waitStartedAt = monotonicMs()
    // A confirmation requested after the wait began is valid, however long it took: a slow settings service delays
    // events, but loses none.
    while (caller.answers.size > 0 && !isConfirmed(caller) && caller.askedAt < waitStartedAt) await begin()
  }

  return {
    follow(answer) {
      const key = buildVerifyKey(answer.question)
      const { question, principal } = answer
      const known = callers.get(key)
      const caller = known ?? {
        question,
        principal,
        answers: new Set(),
        askedAt: monotonicMs(),
        forgotten: 0,
      }
      callers.set(key, caller)
      caller.answers.add(answer)
      if (timer === undefined && round === undefined) schedule()
      return {
        isConfirmed: () => isConfirmed(caller),
        confirmed: () => confirmed(caller),
        stop() {
          caller.answers.delete(answer)
          if (caller.answers.size === 0 && callers.get(key) === caller) callers.delete(key)
        },
      }
    },
    forget(matches) {
      for (const caller of callers.values()) {
        if (!matches(caller.principal)) continue
        caller.askedAt = Number.NEGATIVE_INFINITY
        caller.forgotten++
      }
    },
    close: () => timers.clearTimeout(timer),
  }
}

/**
 * Only the service knows which of the permissions the response needed: a client that
 * repeats the request gets its error.
 */
export function findRefusal(then: Principal, permissions: readonly string[] | null): ApiError | undefined {
  if (permissions === null) return new ApiError('invalid_token', 'The token is not valid any more.')
  if (then.permissions.every((permission) => permissions.includes(permission))) return undefined
  return new ApiError('service_unavailable', 'What the token allows has changed meanwhile. Try again.')
}
