import type { FairShares } from './statements.js'

export interface ShareBounds {
  full: ReadonlySet<string>
  ofOne: number
}

/** How long the list of workspaces with due rows is cached: with many of them, reading it is the expensive part. */
const knownMs = 1_000
/** The same while every listed workspace is at its limit, because another one may have due rows by now. */
const fullKnownMs = 250

/**
 * Decides whose rows are claimed next. While one claim covers all due rows, those of any workspace; with a
 * backlog, every workspace with due rows gets an equal share of each claim, by turns.
 */
export interface FairClaims {
  /** Workspaces that are `full` get none, and all others at most `ofOne`. */
  next(limit: number, bounds?: ShareBounds): Promise<FairShares | undefined>
  /** Reports the fairness keys of the rows a claim has found. */
  claimed(limit: number, turns: FairShares | undefined, found: readonly (string | undefined)[]): void
}

/** Claims the rows that have been due longest, of any workspace. */
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
      const isBelowLimit = (key: string) => !bounds?.full.has(key)
      const ageMs = nowMs() - readAtMs
      const stale = queue.some(isBelowLimit) ? ageMs >= knownMs : !someAreFull || ageMs >= fullKnownMs
      if (stale) {
        const keys = await readKeys()
        readAtMs = nowMs()
        // Continues after the workspace that was served last.
        queue = [...keys.filter((key) => key > last), ...keys.filter((key) => key <= last)]
        if (queue.length === 0) {
          backlog = false
          return someAreFull ? { keys: [], each: 0 } : undefined
        }
      }
      const keys = queue.filter(isBelowLimit).slice(0, limit)
      const claimedKeys = new Set(keys)
      // A workspace at its limit keeps its turn.
      queue = queue.filter((key) => !claimedKeys.has(key))
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
      // Rows that became due meanwhile, of workspaces not listed, are found without turns.
      if (queue.length === 0) backlog = false
    },
  }
}
