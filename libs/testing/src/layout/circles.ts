import type { Arrow } from './imports.js'

/** A folder directly below `src`, or a file that lies there itself. */
export const toTopFolder = (path: string): string => path.split('/')[0] ?? path

/**
 * The arrows between rooms that lie on a circle, each as `from -> to`: as long as there is one, the rooms do not stand on
 * floors. Empty where all arrows point down.
 */
export function circularArrows(arrows: readonly Arrow[]): string[] {
  const between = arrows.filter(({ from, to }) => toTopFolder(from) !== toTopFolder(to))
  const reached = reachable(between.map(({ from, to }) => [toTopFolder(from), toTopFolder(to)]))
  return between
    .filter(({ from, to }) => reached.get(toTopFolder(to))?.has(toTopFolder(from)))
    .map(({ from, to }) => `${from} -> ${to}`)
}

/** Of each room, what its arrows lead to over any number of others. */
function reachable(pairs: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const next = new Map<string, Set<string>>()
  for (const [from, to] of pairs) next.set(from, (next.get(from) ?? new Set()).add(to))
  const walk = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of next.get(from) ?? []) {
      if (seen.has(to)) continue
      seen.add(to)
      walk(to, seen)
    }
    return seen
  }
  return new Map([...next.keys()].map((room) => [room, walk(room)]))
}
