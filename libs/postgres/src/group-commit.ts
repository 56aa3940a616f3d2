interface GroupOptions<Item, Result> {
  /** Writes all items in one statement; returns one result per item. */
  write(items: readonly Item[]): Promise<readonly Result[]>
  /** Whether an error does not concern the items: all of them then fail with it. */
  isAway(error: unknown): boolean
}

interface Groups<Item, Result> {
  add(item: Item): Promise<Result>
  /** Resolves once no statement is running. */
  idle(): Promise<void>
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

const maxGroup = 64
const maxInFlight = 2
/**
 * Minimum number of waiting items before a further statement starts while one is running: WAL flushes are
 * serialized anyway.
 */
const worthAnother = 16

/**
 * Group commit: items that arrive while a statement is running share the next one. If a group fails, its items are
 * tried one by one.
 */
export function createGroups<Item, Result>({
  write,
  isAway,
}: GroupOptions<Item, Result>): Groups<Item, Result> {
  let queue: Waiting<Item, Result>[] = []
  const running = new Set<Promise<void>>()
  let scheduled = false

  async function run(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await write(group.map(({ item }) => item))
      // `write` returns one result for each item.
      for (const [n, waiting] of group.entries()) waiting.resolve(results[n] as Result)
    } catch (error) {
      if (group.length > 1 && !isAway(error)) for (const waiting of group) await run([waiting])
      else for (const { reject } of group) reject(error)
    }
  }

  function pump() {
    scheduled = false
    while (running.size < maxInFlight && queue.length >= (running.size === 0 ? 1 : worthAnother)) {
      const group = queue.slice(0, maxGroup)
      queue = queue.slice(maxGroup)
      const completion = run(group).finally(() => {
        running.delete(completion)
        pump()
      })
      running.add(completion)
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject })
        if (scheduled || running.size >= maxInFlight) return
        scheduled = true
        // Deferred until all items of this event-loop turn have arrived, so that they share the statement.
        setImmediate(pump)
      }),
    async idle() {
      while (running.size > 0 || queue.length > 0) {
        await Promise.all(running)
        await new Promise((turn) => setImmediate(turn))
      }
    },
  }
}
