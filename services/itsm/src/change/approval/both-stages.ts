/** So many approvals of these people; null for anyone, of whom there are always enough. */
export interface Need {
  people: readonly string[] | null
  count: number
}

/** Rules that cannot be met together, by their places. Without any one of them the others could. */
export interface Clash {
  before: number[]
  after: number[]
}

/** Most situations looked at for one answer: far more than policies people write come to. */
const mostLooks = 20_000

/**
 * Undefined where both stages can be met although nobody counts in both; within a stage a person counts for every rule
 * that names them. What these ask of each other is no matching but a set cover with limits, so the search is exact, and
 * bounded: what it has not decided by then passes for possible.
 */
export function clashOf(before: readonly Need[], after: readonly Need[]): Clash | undefined {
  let clash: Clash = { before: before.map((_, place) => place), after: after.map((_, place) => place) }
  const possible = (places: Clash) =>
    bothPossible(
      places.before.flatMap((place) => before[place] ?? []),
      places.after.flatMap((place) => after[place] ?? []),
    )
  if (possible(clash)) return undefined
  for (const stage of ['before', 'after'] as const)
    for (const place of [...clash[stage]]) {
      const fewer = { ...clash, [stage]: clash[stage].filter((one) => one !== place) }
      if (!possible(fewer)) clash = fewer
    }
  return clash
}

/** Whether some people can meet the needs of the first stage, and leave enough for those of the second. */
export function bothPossible(before: readonly Need[], after: readonly Need[]): boolean {
  const needs = before.filter(({ people, count }) => people !== null && count > 0)
  const limits = after.filter(({ people }) => people !== null)
  const spare = limits.map(({ people, count }) => new Set(people).size - count)
  if (spare.some((left) => left < 0)) return false
  const groups = alike(needs, limits)
  const free = groups.filter(({ within }) => within.length === 0)
  const missing = needs.map(({ count }, need) => count - sizeOf(free, need))
  const costly = groups.filter(({ within }) => within.length > 0)
  return search(costly, missing, spare)
}

/** People whom the same rules name: one of them is as good as another. */
interface Group {
  /** Needs that each of them helps to meet. */
  meets: number[]
  /** Limits that each of them counts towards. */
  within: number[]
  size: number
}

/** Those who are asked in the first stage. */
function alike(needs: readonly Need[], limits: readonly Need[]): Group[] {
  const groups = new Map<string, Group>()
  const namedIn = (rules: readonly Need[]) => {
    const sets = rules.map(({ people }) => new Set(people))
    return (id: string) => sets.flatMap((set, place) => (set.has(id) ? [place] : []))
  }
  const [meetsOf, withinOf] = [namedIn(needs), namedIn(limits)]
  for (const id of new Set(needs.flatMap(({ people }) => people ?? []))) {
    const group = { meets: meetsOf(id), within: withinOf(id), size: 1 }
    const key = JSON.stringify([group.meets, group.within])
    const known = groups.get(key)
    if (known) known.size += 1
    else groups.set(key, group)
  }
  // Who helps most comes first: what can be met is found soon.
  return [...groups.values()].sort((a, b) => b.meets.length - a.meets.length)
}

const sizeOf = (groups: readonly Group[], need: number, limit?: number): number =>
  groups
    .filter(({ meets, within }) => meets.includes(need) && (limit === undefined || within.includes(limit)))
    .reduce((sum, { size }) => sum + size, 0)

/** Takes so many of each group, one group after the other. */
function search(groups: readonly Group[], missing: readonly number[], spare: readonly number[]): boolean {
  // What the groups from each on can add to a need, and how much of that counts towards a limit.
  const rest = [...groups, undefined].map((_, from) => {
    const later = groups.slice(from)
    return missing.map((__, need) => ({
      all: sizeOf(later, need),
      limited: spare.map((___, limit) => sizeOf(later, need, limit)),
    }))
  })
  const failed = new Set<string>()
  let looks = 0

  const possible = (from: number, missing: readonly number[], spare: readonly number[]): boolean => {
    if (missing.every((count) => count <= 0)) return true
    const within = (need: number, count: number) => {
      const { all, limited } = rest[from]?.[need] ?? { all: 0, limited: [] }
      return limited.every((some, limit) => all - some + Math.min(some, spare[limit] ?? 0) >= count)
    }
    if (!missing.every((count, need) => count <= 0 || within(need, count))) return false
    const group = groups[from]
    if (group === undefined) return false
    const key = [from, ...missing.map((count) => Math.max(0, count)), ...spare].join()
    if (failed.has(key)) return false
    if (looks++ >= mostLooks) return true
    const useful = Math.max(...group.meets.map((need) => missing[need] ?? 0))
    const room = Math.min(...group.within.map((limit) => spare[limit] ?? 0))
    for (let taken = Math.min(group.size, Math.max(0, useful), room); taken >= 0; taken--) {
      const still = missing.map((count, need) => (group.meets.includes(need) ? count - taken : count))
      const left = spare.map((count, limit) => (group.within.includes(limit) ? count - taken : count))
      if (possible(from + 1, still, left)) return true
    }
    failed.add(key)
    return false
  }
  return possible(0, missing, spare)
}
