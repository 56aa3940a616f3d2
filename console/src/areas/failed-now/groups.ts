/** Failures of one cause at one target. */
export interface FailureGroup<Item> {
  cause: string
  target: string
  /** The latest first. */
  items: Item[]
  firstAt: string
  lastAt: string
}

export interface FailureReading<Item> {
  causeOf(item: Item): string
  targetOf(item: Item): string
  atOf(item: Item): string
}

/** Failures by cause and target, those with the latest one first. */
export function groupFailures<Item>(
  failures: readonly Item[],
  { causeOf, targetOf, atOf }: FailureReading<Item>,
): FailureGroup<Item>[] {
  const groups = new Map<string, FailureGroup<Item>>()
  for (const item of failures) {
    const [cause, target, at] = [causeOf(item), targetOf(item), atOf(item)]
    const key = JSON.stringify([cause, target])
    const group = groups.get(key) ?? { cause, target, items: [], firstAt: at, lastAt: at }
    group.items.push(item)
    if (at < group.firstAt) group.firstAt = at
    if (at > group.lastAt) group.lastAt = at
    groups.set(key, group)
  }
  for (const { items } of groups.values()) items.sort((one, other) => (atOf(one) < atOf(other) ? 1 : -1))
  return [...groups.values()].sort((one, other) => (one.lastAt < other.lastAt ? 1 : -1))
}

/** How many of the instants are in each of so many equal parts of the time from `fromMs` to `toMs`. */
export function spreadOf(instants: readonly string[], fromMs: number, toMs: number, parts: number): number[] {
  const counts = new Array<number>(parts).fill(0)
  const length = Math.max(toMs - fromMs, 1)
  for (const at of instants) {
    const part = Math.floor(((Date.parse(at) - fromMs) / length) * parts)
    const index = Math.min(Math.max(part, 0), parts - 1)
    counts[index] = (counts[index] ?? 0) + 1
  }
  return counts
}
