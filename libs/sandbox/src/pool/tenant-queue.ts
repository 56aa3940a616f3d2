/** Waiting entries by tenant; tenants take turns. */
interface TenantQueue<Entry> {
  readonly size: number
  /** Entries of one tenant that wait. */
  waiting(tenant: string): number
  /** The first of them. */
  oldest(tenant: string): Entry | undefined
  add(tenant: string, entry: Entry): void
  /** Takes the oldest entry of the first tenant in turn that may have one; it goes to the end of the line then. */
  dequeue(may: (tenant: string) => boolean): { tenant: string; entry: Entry } | undefined
  /** Takes the oldest entries of a tenant for as long as they may be taken. */
  dequeueMore(tenant: string, may: (entry: Entry) => boolean): Entry[]
  /** Puts entries back that were taken: they are the oldest of their tenant again. */
  requeue(tenant: string, entries: readonly Entry[]): void
  /** Takes out whatever matches. */
  remove(matches: (entry: Entry) => boolean): Entry[]
  /** Tenants with something waiting. */
  tenants(): Iterable<string>
  readonly tenantCount: number
}

export function createTenantQueue<Entry>(): TenantQueue<Entry> {
  // In the order of their turns: a Map keeps the order of insertion.
  const lines = new Map<string, Entry[]>()
  let size = 0
  return {
    get size() {
      return size
    },
    get tenantCount() {
      return lines.size
    },
    tenants: () => lines.keys(),
    waiting: (tenant) => lines.get(tenant)?.length ?? 0,
    oldest: (tenant) => lines.get(tenant)?.[0],
    add(tenant, entry) {
      const line = lines.get(tenant)
      if (line) line.push(entry)
      else lines.set(tenant, [entry])
      size += 1
    },
    dequeue(may) {
      for (const [tenant, line] of lines) {
        if (!may(tenant)) continue
        const entry = line.shift() as Entry
        lines.delete(tenant)
        if (line.length > 0) lines.set(tenant, line)
        size -= 1
        return { tenant, entry }
      }
      return undefined
    },
    dequeueMore(tenant, may) {
      const line = lines.get(tenant) ?? []
      const end = line.findIndex((entry) => !may(entry))
      const taken = line.splice(0, end === -1 ? line.length : end)
      if (line.length === 0) lines.delete(tenant)
      size -= taken.length
      return taken
    },
    requeue(tenant, entries) {
      if (entries.length === 0) return
      lines.set(tenant, [...entries, ...(lines.get(tenant) ?? [])])
      size += entries.length
    },
    remove(matches) {
      const removed: Entry[] = []
      for (const [tenant, line] of [...lines]) {
        const [out, kept] = [line.filter(matches), line.filter((entry) => !matches(entry))]
        removed.push(...out)
        if (kept.length === 0) lines.delete(tenant)
        else lines.set(tenant, kept)
      }
      size -= removed.length
      return removed
    },
  }
}
