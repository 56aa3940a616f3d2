import type { ImpactLinks, LinkPair } from './links-in-memory.js'

const limits = { maxItems: 2_000, maxHops: 5 }
const directions = ['dependents', 'dependencies'] as const

/**
 * What depends on these items, and what they depend on, over relations with impact: each with the item it was reached
 * from. Work is no failure: redundancy does not keep it apart (two halves of a pair taken down at once are what is
 * looked for), and neither does whether an item is in service. So it is the same from either end.
 */
export async function findClosure(
  links: ImpactLinks,
  ciIds: readonly string[],
): Promise<Map<string, string>> {
  const related = new Map<string, string>()
  if (ciIds.length === 0) return related
  for (const direction of directions)
    for (const [id, origin] of await links.walk(direction, ciIds, limits))
      related.set(id, related.get(id) ?? origin)
  return related
}

/** A closure that has the link in it begins at one end or up to so many hops from it. */
const reach = { maxItems: 10_000, maxHops: limits.maxHops - 1 }

/**
 * The items whose closure one of these pairs can be part of, whether they are there or not any more: the dependency and
 * what it depends on, the dependent and what depends on it. Each with the end it was reached from; null for too many.
 */
export async function findReachableItems(
  links: ImpactLinks,
  pairs: readonly LinkPair[],
): Promise<Map<string, string> | null> {
  const reached = new Map<string, string>()
  const ends = {
    dependents: new Set(pairs.map(({ dependent }) => dependent)),
    dependencies: new Set(pairs.map(({ dependency }) => dependency)),
  }
  for (const direction of directions) {
    for (const end of ends[direction]) reached.set(end, end)
    const found = await links.walk(direction, [...ends[direction]], reach)
    if (found.size >= reach.maxItems) return null
    for (const [id, origin] of found) reached.set(id, reached.get(id) ?? origin)
  }
  return reached
}
