import type { ImpactLinks, LinkPair } from './links-in-memory.js'

const limits = { maxItems: 2_000, maxHops: 5 }
const directions = ['dependents', 'dependencies'] as const

/**
 * Returns the items that depend on these items and the items these depend on, over relations
 * with impact, each mapped to the item it was reached from. Redundancy and service status
 * are ignored: a planned change is not a failure, and taking down two halves of a redundant
 * pair at the same time is a conflict to be found. The result is therefore symmetric.
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

/** A closure that contains the relation starts at one of its ends or at most `maxHops` hops away from it. */
const reach = { maxItems: 10_000, maxHops: limits.maxHops - 1 }

/**
 * Returns the items whose closure can contain one of these pairs, whether the relation still exists or not: the
 * dependency with everything it depends on, and the dependent with everything that depends on it. Each item is mapped
 * to the end it was reached from. Returns `null` if there are too many.
 */
export async function findReachableItems(
  links: ImpactLinks,
  pairs: readonly LinkPair[],
): Promise<Map<string, string> | null> {
  const originByItem = new Map<string, string>()
  const ends = {
    dependents: new Set(pairs.map(({ dependent }) => dependent)),
    dependencies: new Set(pairs.map(({ dependency }) => dependency)),
  }
  for (const direction of directions) {
    for (const end of ends[direction]) originByItem.set(end, end)
    const found = await links.walk(direction, [...ends[direction]], reach)
    if (found.size >= reach.maxItems) return null
    for (const [id, origin] of found) originByItem.set(id, originByItem.get(id) ?? origin)
  }
  return originByItem
}
