/** A number for each key; keys with 0 are not stored. */
export interface KeyedCounts {
  readonly total: number
  of(key: string): number
  add(key: string, amount: number): void
  entries(): Iterable<[string, number]>
}

export function createKeyedCounts(): KeyedCounts {
  const counts = new Map<string, number>()
  let total = 0
  return {
    get total() {
      return total
    },
    of: (key) => counts.get(key) ?? 0,
    add(key, amount) {
      const count = (counts.get(key) ?? 0) + amount
      total += amount
      if (count === 0) counts.delete(key)
      else counts.set(key, count)
    },
    entries: () => counts,
  }
}
