/** Waiting entries by key, such as the tenant; keys are served by turns. */
interface FairQueue<Entry> {
  readonly size: number
  /** Number of waiting entries of a key. */
  waiting(key: string): number
  oldest(key: string): Entry | undefined
  add(key: string, entry: Entry): void
  /**
   * Removes and returns the oldest entry of the first key for which `may` returns true; the key then moves to the
   * end.
   */
  dequeue(may: (key: string) => boolean): { key: string; entry: Entry } | undefined
  /** Removes and returns the oldest entries of a key up to the first one for which `may` returns false. */
  dequeueMore(key: string, may: (entry: Entry) => boolean): Entry[]
  /** Puts removed entries back as the oldest of their key. */
  requeue(key: string, entries: readonly Entry[]): void
  /** Removes and returns all matching entries. */
  remove(matches: (entry: Entry) => boolean): Entry[]
  /** Keys with waiting entries. */
  keys(): Iterable<string>
  readonly keyCount: number
}

export function createFairQueue<Entry>(): FairQueue<Entry> {
  // In the order of turns: a Map preserves insertion order.
  const lines = new Map<string, Entry[]>()
  let size = 0
  return {
    get size() {
      return size
    },
    get keyCount() {
      return lines.size
    },
    keys: () => lines.keys(),
    waiting: (key) => lines.get(key)?.length ?? 0,
    oldest: (key) => lines.get(key)?.[0],
    add(key, entry) {
      const line = lines.get(key)
      if (line) line.push(entry)
      else lines.set(key, [entry])
      size += 1
    },
    dequeue(may) {
      for (const [key, line] of lines) {
        if (!may(key)) continue
        const entry = line.shift() as Entry
        lines.delete(key)
        if (line.length > 0) lines.set(key, line)
        size -= 1
        return { key, entry }
      }
      return undefined
    },
    dequeueMore(key, may) {
      const line = lines.get(key) ?? []
      const end = line.findIndex((entry) => !may(entry))
      const dequeuedEntries = line.splice(0, end === -1 ? line.length : end)
      if (line.length === 0) lines.delete(key)
      size -= dequeuedEntries.length
      return dequeuedEntries
    },
    requeue(key, entries) {
      if (entries.length === 0) return
      lines.set(key, [...entries, ...(lines.get(key) ?? [])])
      size += entries.length
    },
    remove(matches) {
      const removed: Entry[] = []
      for (const [key, line] of [...lines]) {
        const [out, kept] = [line.filter(matches), line.filter((entry) => !matches(entry))]
        removed.push(...out)
        if (kept.length === 0) lines.delete(key)
        else lines.set(key, kept)
      }
      size -= removed.length
      return removed
    },
  }
}
