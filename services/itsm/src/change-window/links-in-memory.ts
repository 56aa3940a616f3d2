import { indexRelations } from '../cmdb/relation/relation-index.js'

/** A relation with impact, by what it means. */
export interface LinkPair {
  dependent: string
  dependency: string
}

/**
 * The relations as numbers: items are numbered in the order of their ids. The parts they come in are not kept: half a million relations are some ten megabytes, and their ids.
 */
export async function linksInMemory(parts: AsyncIterable<readonly LinkPair[]>): Promise<ImpactLinks> {
  const met = new Map<string, number>()
  const numberOf = (id: string) => {
    const number = met.get(id) ?? met.size
    if (number === met.size) met.set(id, number)
    return number
  }
  const numbered = { dependents: [] as number[], dependencies: [] as number[] }
  for await (const part of parts)
    for (const { dependent, dependency } of part) {
      numbered.dependents.push(numberOf(dependent))
      numbered.dependencies.push(numberOf(dependency))
    }
  const ids = [...met.keys()].sort()
  const places = new Int32Array(ids.length)
  for (const [place, id] of ids.entries()) {
    places[met.get(id) ?? 0] = place
    met.set(id, place)
  }
  const placeOf = (id: string) => met.get(id) ?? -1
  const placed = (numbers: number[]) => new Int32Array(numbers.map((number) => places[number] ?? 0))
  const [dependents, dependencies] = [placed(numbered.dependents), placed(numbered.dependencies)]
  const tables: Record<LinkDirection, Table> = {
    dependents: { relationsOf: indexRelations(dependencies, ids.length), to: dependents },
    dependencies: { relationsOf: indexRelations(dependents, ids.length), to: dependencies },
  }
  // No walk begins before another has ended, so all write here: marks below its first one are those of earlier walks.
  const origins = new Int32Array(ids.length)
  const marks = new Int32Array(ids.length)
  let mark = 0
  return {
    async walk(direction, starts, { maxItems, maxHops }) {
      const table = tables[direction]
      const at = (list: Int32Array, place: number) => list[place] ?? 0
      let frontier = [...new Set(starts.map(placeOf))].filter((place) => place >= 0)
      const first = ++mark
      for (const place of frontier) {
        origins[place] = place
        marks[place] = mark
      }
      const reached = new Map<string, string>()
      for (let hops = 1; hops <= maxHops && frontier.length > 0 && reached.size < maxItems; hops++) {
        const found: number[] = []
        mark++
        for (const from of frontier) {
          const origin = at(origins, from)
          for (const relation of table.relationsOf(from)) {
            const to = at(table.to, relation)
            if (at(marks, to) < first) {
              marks[to] = mark
              origins[to] = origin
              found.push(to)
            } else if (at(marks, to) === mark && origin < at(origins, to)) origins[to] = origin
          }
        }
        frontier = found.sort((left, right) => left - right).slice(0, maxItems - reached.size)
        for (const place of frontier) reached.set(ids[place] ?? '', ids[at(origins, place)] ?? '')
      }
      return reached
    },
  }
}

interface Table {
  relationsOf(place: number): Int32Array
  /** What a relation leads to. */
  to: Int32Array
}

/** Relations with impact, to be walked along. */
export interface ImpactLinks {
  /**
   * Items up to so many relations away from `starts`, without these, each with the first of them, by id, that it is
   * nearest to. Of more than `maxItems` those that are nearest, and of these the first by id.
   */
  walk(
    direction: LinkDirection,
    starts: readonly string[],
    limits: LinkLimits,
  ): Promise<ReadonlyMap<string, string>>
}

/** Towards what depends on an item, or towards what it depends on. */
export type LinkDirection = 'dependents' | 'dependencies'

export interface LinkLimits {
  maxItems: number
  maxHops: number
}
