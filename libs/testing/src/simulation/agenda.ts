/** An action scheduled at a moment of virtual time. */
export interface Entry {
  at: number
  /** Order of planning; of two entries at the same moment, the lower one runs first. */
  order: number
  act: (() => void) | undefined
}

/** Entries ordered by time, in a binary heap. */
export class Agenda {
  #heap: Entry[] = []
  #planned = 0

  plan(at: number, act: () => void): Entry {
    const entry: Entry = { at, order: ++this.#planned, act }
    const heap = this.#heap
    let index = heap.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent] as Entry
      if (isBefore(above, entry)) break
      heap[index] = above
      index = parent
    }
    heap[index] = entry
    return entry
  }

  /** The next entry that was not cancelled; `undefined` when none is left. */
  next(): Entry | undefined {
    for (;;) {
      const [first] = this.#heap
      if (!first) return undefined
      this.#removeFirst()
      if (first.act) return first
    }
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop() as Entry
    const { length } = heap
    if (length === 0) return
    let index = 0
    for (let child = 1; child < length; child = index * 2 + 1) {
      if (child + 1 < length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child++
      if (isBefore(last, heap[child] as Entry)) break
      heap[index] = heap[child] as Entry
      index = child
    }
    heap[index] = last
  }
}

const isBefore = (one: Entry, other: Entry): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order)
