import type { LogSource } from '@opsplane/eventstore'
import type { Logger } from '@opsplane/runtime'

/**
 * Reads the current end of each service's log: everything at or below it is already committed. A service that is
 * unavailable accepts no events either, so its last known position is used.
 */
export function createLogEndReader(
  logs: readonly LogSource[],
  lastSeenPositions: () => ReadonlyMap<string, number>,
  log: Logger,
): () => Promise<Record<string, number>> {
  return async () =>
    Object.fromEntries(
      await Promise.all(
        logs.map(async (each): Promise<[string, number]> => {
          try {
            return [each.source, await each.end()]
          } catch (error) {
            log.warn(
              { err: error, source: each.source },
              "the end of a service's log could not be read; trying again",
            )
            return [each.source, lastSeenPositions().get(each.source) ?? 0]
          }
        }),
      ),
    )
}

/** Coalesces concurrent calls: each caller gets the result of a call that started after its own. */
export function coalesceCalls<Answer>(call: () => Promise<Answer>): () => Promise<Answer> {
  let currentCall: Promise<Answer> | undefined
  let next: Promise<Answer> | undefined
  const begin = () => {
    const answer = call()
    currentCall = answer
    const over = () => {
      if (currentCall === answer) currentCall = undefined
    }
    answer.then(over, over)
    return answer
  }
  return () => {
    if (!currentCall) return begin()
    next ??= currentCall
      .catch(() => {})
      .then(() => {
        next = undefined
        return begin()
      })
    return next
  }
}
