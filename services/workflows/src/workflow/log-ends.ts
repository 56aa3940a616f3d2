import type { LogSource } from '@opsplane/eventstore'
import type { Logger } from '@opsplane/runtime'

/**
 * Up to where the log of each service has come: what is at or below was committed before. A service that cannot be asked
 * accepts nothing either, so its last known position counts.
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

/** Asks once for all who want to know while it is being asked: each of them gets what was asked for after they did. */
export function coalesceCalls<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asking: Promise<Answer> | undefined
  let next: Promise<Answer> | undefined
  const begin = () => {
    const answer = ask()
    asking = answer
    const over = () => {
      if (asking === answer) asking = undefined
    }
    answer.then(over, over)
    return answer
  }
  return () => {
    if (!asking) return begin()
    next ??= asking
      .catch(() => {})
      .then(() => {
        next = undefined
        return begin()
      })
    return next
  }
}
