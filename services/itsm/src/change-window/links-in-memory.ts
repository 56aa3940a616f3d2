import type { ImpactLinks, LinkDirection } from './impact-links.js'

/** A relation with impact, by what it means. */
export interface LinkPair {
  dependent: string
  dependency: string
}

/**
 * The relations as numbers: items are numbered in the order of their ids, and what is beside an item stands in one
 * stretch of `beside`. A million of them are some megabytes, and no walk makes more than a few.
 */
export function linksInMemory(pairs: readonly LinkPair[]): ImpactLinks {
  const ids = [...new Set(pairs.flatMap(({ dependent, dependency }) => [dependent, dependency]))].sort()
  const places = new Map(ids.map((id, place) => [id, place]))
  const placeOf = (id: string) => places.get(id) ?? -1
  const dependents = Int32Array.from(pairs, ({ dependent }) => placeOf(dependent))
  const dependencies = Int32Array.from(pairs, ({ dependency }) => placeOf(dependency))
  const tables: Record<LinkDirection, Beside> = {
    dependents: besides(ids.length, dependencies, dependents),
    dependencies: besides(ids.length, dependents, dependencies),
  }
  return {
    async walk(direction, starts, { maxItems, maxHops }) {
      const { offsets, beside } = tables[direction]
      const at = (list: Int32Array, place: number) => list[place] ?? 0
      const origins = new Int32Array(ids.length).fill(-1)
      const hopOf = new Int32Array(ids.length)
      let frontier = [...new Set(starts.map(placeOf))].filter((place) => place >= 0)
      for (const place of frontier) origins[place] = place
      const reached = new Map<string, string>()
      for (let hops = 1; hops <= maxHops && frontier.length > 0 && reached.size < maxItems; hops++) {
        const found: number[] = []
        for (const from of frontier) {
          const origin = at(origins, from)
          for (let each = at(offsets, from); each < at(offsets, from + 1); each++) {
            const to = at(beside, each)
            if (at(origins, to) === -1) {
              hopOf[to] = hops
              origins[to] = origin
              found.push(to)
            } else if (at(hopOf, to) === hops && origin < at(origins, to)) origins[to] = origin
          }
        }
        frontier = found.sort((left, right) => left - right).slice(0, maxItems - reached.size)
        for (const place of frontier) reached.set(ids[place] ?? '', ids[at(origins, place)] ?? '')
      }
      return reached
    },
  }
}

interface Beside {
  /** Where the stretch of each item begins; one more, for where the last ends. */
  offsets: Int32Array
  beside: Int32Array
}

function besides(items: number, from: Int32Array, to: Int32Array): Beside {
  const offsets = new Int32Array(items + 1)
  for (const place of from) offsets[place + 1] = (offsets[place + 1] ?? 0) + 1
  for (let place = 0; place < items; place++)
    offsets[place + 1] = (offsets[place + 1] ?? 0) + (offsets[place] ?? 0)
  const next = offsets.slice()
  const beside = new Int32Array(from.length)
  for (const [each, place] of from.entries()) {
    const free = next[place] ?? 0
    beside[free] = to[each] ?? 0
    next[place] = free + 1
  }
  return { offsets, beside }
}
