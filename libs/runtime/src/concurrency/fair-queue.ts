/** Waiting entries by key, such as the tenant; keys take turns. */
interface FairQueue<Entry> {
  readonly size: number
  /** Entries of one key that wait. */
  waiting(key: string): number
  /** The first of them. */
  oldest(key: string): Entry | undefined
  add(key: string, entry: Entry): void
  /** Takes the oldest entry of the first key in turn that may have one; it goes to the end of the line then. */
  dequeue(may: (key: string) => boolean): { key: string; entry: Entry } | undefined
  /** Takes the oldest entries of a key for as long as they may be taken. */
  dequeueMore(key: string, may: (entry: Entry) => boolean): Entry[]
  /** Puts entries back that were taken: they are the oldest of their key again. */
  requeue(key: string, entries: readonly Entry[]): void
  /** Takes out whatever matches. */
  remove(matches: (entry: Entry) => boolean): Entry[]
  /** Keys with something waiting. */
  keys(): Iterable<string>
  readonly keyCount: number
}

export function createFairQueue<Entry>(): FairQueue<Entry> {
  // In the order of their turns: a Map keeps the order of insertion.
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
      const taken = line.splice(0, end === -1 ? line.length : end)
      if (line.length === 0) lines.delete(key)
      size -= taken.length
      return taken
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
