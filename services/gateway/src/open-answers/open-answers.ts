import { ApiError, type Principal } from '@opsplane/contracts'
import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import { buildVerifyKey, type VerifyRequest } from '../token-cache.js'

/** Answers that go on for long, such as streams of events, and whether their callers may still have them. */
export interface OpenAnswers {
  /** From an answer's beginning, at which its caller was checked, to its end. */
  follow(options: FollowedAnswer): OpenAnswer
  /** Voids the confirmations of the principals that match. */
  forget(matches: (principal: Principal) => boolean): void
  close(): void
}

export interface FollowedAnswer {
  question: VerifyRequest
  /** Who it was begun for, with the permissions it may need all of. */
  principal: Principal
  /** Called once its caller may have no more of it. */
  refuse(error: ApiError): void
}

export interface OpenAnswer {
  /** Whether its caller was confirmed within the last second. */
  isConfirmed(): boolean
  /** Resolves once its caller is confirmed; rejects where that cannot be found out. */
  confirmed(): Promise<void>
  stop(): void
}

export interface OpenAnswersOptions {
  /** What each token allows at this moment, in the order of the questions; null for one that is refused. */
  ask(questions: readonly VerifyRequest[]): Promise<(readonly string[] | null)[]>
  monotonicMs(): number
  timers?: Pick<Timers, 'setTimeout' | 'clearTimeout'>
}

/** Answers of one token, workspace and environment. */
interface Caller {
  question: VerifyRequest
  principal: Principal
  answers: Set<FollowedAnswer>
  /** When settings was asked that has confirmed it. */
  askedAt: number
  /** How often it was voided: an answer to an earlier question confirms nothing. */
  forgotten: number
}

/** How long a confirmation is valid. */
const validMs = 1_000
/** Sooner than it expires, so that no event waits for the next one. */
const askEveryMs = 750

/**
 * Asks settings about all callers together, once for those who have the same token, and no more often than every 750 ms unless an
 * answer waits.
 */
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
    timer = timers.setTimeout(() => void begin().catch(() => {}), askEveryMs)
    timer.unref()
  }
  const begin = (): Promise<void> => {
    round ??= askAll().finally(() => {
      round = undefined
      schedule()
    })
    return round
  }
  const askAll = async () => {
    const asked = [...callers.values()]
    const before = asked.map(({ forgotten }) => forgotten)
    const askedAt = monotonicMs()
    const allowed = await ask(asked.map(({ question }) => question))
    for (const [at, caller] of asked.entries()) {
      if (caller.forgotten !== before[at]) continue
      caller.askedAt = askedAt
      const permissions = allowed[at] ?? null
      for (const answer of [...caller.answers]) {
        const error = findRefusal(answer.principal, permissions)
        if (error) answer.refuse(error)
      }
    }
  }
  const confirmed = async (caller: Caller) => {
    const heldAt = monotonicMs()
    // What was asked for since is certain enough, however long the answer has taken: a slow settings delays events, and loses none.
    while (caller.answers.size > 0 && !isConfirmed(caller) && caller.askedAt < heldAt) await begin()
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

/** Which of the permissions an answer needed only its service knows: a client that asks again learns it. */
export function findRefusal(then: Principal, permissions: readonly string[] | null): ApiError | undefined {
  if (permissions === null) return new ApiError('invalid_token', 'The token is not valid any more.')
  if (then.permissions.every((permission) => permissions.includes(permission))) return undefined
  return new ApiError('service_unavailable', 'What the token allows has changed meanwhile. Try again.')
}
