import type { FairShares } from './statements.js'

export interface ShareBounds {
  full: ReadonlySet<string>
  ofOne: number
}

/** For so long it is not asked again who has something due: with many who wait, that is the costly part. */
const knownMs = 1_000
/** The same while everybody it is known of has as much in hand as one may: somebody else may have something due by now. */
const fullKnownMs = 250

/**
 * Whose rows are claimed next. As long as one claim holds all that is due, nobody's in particular; with a backlog
 * everybody who has something due gets an equal share of each claim, in turn.
 */
export interface FairClaims {
  /** Where some are `full` they get none, and everybody else at most `ofOne`. */
  next(limit: number, bounds?: ShareBounds): Promise<FairShares | undefined>
  /** How many rows of whom the claim has found. */
  claimed(limit: number, turns: FairShares | undefined, found: readonly (string | undefined)[]): void
}

/** Nobody takes turns. */
export const unsharedClaims: FairClaims = { next: () => Promise.resolve(undefined), claimed: () => {} }

export function createFairClaims(
  readKeys: () => Promise<string[]>,
  nowMs = () => performance.now(),
): FairClaims {
  let backlog = false
  let queue: string[] = []
  let readAtMs = Number.NEGATIVE_INFINITY
  let last = ''

  return {
    async next(limit, bounds) {
      const someAreFull = bounds !== undefined && bounds.full.size > 0
      if (!backlog && !someAreFull) return undefined
      const mayTake = (key: string) => !bounds?.full.has(key)
      const ageMs = nowMs() - readAtMs
      const stale = queue.some(mayTake) ? ageMs >= knownMs : !someAreFull || ageMs >= fullKnownMs
      if (stale) {
        const keys = await readKeys()
        readAtMs = nowMs()
        // Goes on behind whoever was served last.
        queue = [...keys.filter((key) => key > last), ...keys.filter((key) => key <= last)]
        if (queue.length === 0) {
          backlog = false
          return someAreFull ? { keys: [], each: 0 } : undefined
        }
      }
      const keys = queue.filter(mayTake).slice(0, limit)
      const taken = new Set(keys)
      // Who has as much in hand as one may keeps the turn.
      queue = queue.filter((key) => !taken.has(key))
      const each = Math.ceil(limit / Math.max(keys.length, 1))
      return { keys, each: bounds ? Math.min(each, bounds.ofOne) : each }
    },
    claimed(limit, turns, found) {
      if (!turns) {
        backlog = found.length >= limit
        return
      }
      last = turns.keys.at(-1) ?? last
      const counts = new Map<string | undefined, number>()
      for (const key of found) counts.set(key, (counts.get(key) ?? 0) + 1)
      queue.push(...turns.keys.filter((key) => (counts.get(key) ?? 0) >= turns.each))
      // What became due meanwhile, of whom it was not known, is found without turns.
      if (queue.length === 0) backlog = false
    },
  }
}
