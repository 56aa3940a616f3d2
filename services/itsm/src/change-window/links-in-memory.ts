import { indexRelations } from '../cmdb/relation/relation-index.js'

/** A relation with impact, expressed as dependent and dependency. */
export interface LinkPair {
  dependent: string
  dependency: string
}

/**
 * Stores the relations as numbers, with items numbered in the order of their ids. Each part is discarded once read:
 * half a million relations take about ten megabytes plus their ids.
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
  const toPlaces = (numbers: number[]) => new Int32Array(numbers.map((number) => places[number] ?? 0))
  const [dependents, dependencies] = [toPlaces(numbered.dependents), toPlaces(numbered.dependencies)]
  const tables: Record<LinkDirection, Table> = {
    dependents: { relationsOf: indexRelations(dependencies, ids.length), to: dependents },
    dependencies: { relationsOf: indexRelations(dependents, ids.length), to: dependencies },
  }
  // Walks never overlap, so they share these arrays. Marks below the first mark of a walk belong to earlier walks.
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
      const originByItem = new Map<string, string>()
      for (let hops = 1; hops <= maxHops && frontier.length > 0 && originByItem.size < maxItems; hops++) {
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
        frontier = found.sort((left, right) => left - right).slice(0, maxItems - originByItem.size)
        for (const place of frontier) originByItem.set(ids[place] ?? '', ids[at(origins, place)] ?? '')
      }
      return originByItem
    },
  }
}

interface Table {
  relationsOf(place: number): Int32Array
  /** The item at the other end of each relation. */
  to: Int32Array
}

/** Relations with impact that can be walked. */
export interface ImpactLinks {
  /**
   * Returns the items up to `maxHops` relations away from `starts`, without the starts. Each is mapped to the nearest
   * start; among equally near ones, to the first by id. If there are more than `maxItems`, the nearest ones are
   * returned, and among equally near ones the first by id.
   */
  walk(
    direction: LinkDirection,
    starts: readonly string[],
    limits: LinkLimits,
  ): Promise<ReadonlyMap<string, string>>
}

/** Direction of a walk: towards the items that depend on an item, or towards the items it depends on. */
export type LinkDirection = 'dependents' | 'dependencies'

export interface LinkLimits {
  maxItems: number
  maxHops: number
}
