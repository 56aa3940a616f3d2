import type { Arrow } from './imports.js'

/** A folder directly below `src`, or a file in `src` itself. */
export const toTopFolder = (path: string): string => path.split('/')[0] ?? path

/** Imports between top-level folders that are part of a cycle, each as `from -> to`. Empty if the folders form layers. */
export function circularArrows(arrows: readonly Arrow[]): string[] {
  const between = arrows.filter(({ from, to }) => toTopFolder(from) !== toTopFolder(to))
  const reachableFolders = reachable(between.map(({ from, to }) => [toTopFolder(from), toTopFolder(to)]))
  return between
    .filter(({ from, to }) => reachableFolders.get(toTopFolder(to))?.has(toTopFolder(from)))
    .map(({ from, to }) => `${from} -> ${to}`)
}

/** For each folder, all folders reachable through its imports. */
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
