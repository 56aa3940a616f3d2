/**
 * The relay's view of the outbox: the positions it has learned of, and the position up to which there can be no
 * unknown ones. Commits may become visible at lower positions than earlier ones, so the last position read is not
 * a safe end.
 */
export interface OutboxPositions {
  /** All positions up to here are known. */
  readonly settled: number
  /** Every position up to here is published and acknowledged. */
  readonly floor: number
  /** Number of positions known and not done. */
  readonly outstanding: number
  /** Whether positions above `settled` are known, so that `settled` must still reach them. */
  readonly unsettled: boolean
  knows(position: number): boolean
  /** Records a position; `false` if it is known already. */
  learn(position: number): boolean
  /** The position is published and acknowledged, or given up. */
  done(position: number): void
  settle(position: number): void
}

/** `start`: everything up to this position is done. */
export function createOutboxPositions(start: number): OutboxPositions {
  let settled = start
  /** Known positions above `settled`, which may be read again. */
  const recent = new Set<number>()
  /** Outstanding positions and those of `done`, as a min-heap. */
  const heap: number[] = []
  /** Done positions that are above an outstanding one. */
  const done = new Set<number>()

  const dropDone = () => {
    for (let lowest = heap[0]; lowest !== undefined && done.delete(lowest); lowest = heap[0])
      removeLowest(heap)
  }
  const knows = (position: number) => position <= settled || recent.has(position)
  return {
    get settled() {
      return settled
    },
    get floor() {
      return Math.min(settled, (heap[0] ?? Number.POSITIVE_INFINITY) - 1)
    },
    get outstanding() {
      return heap.length - done.size
    },
    get unsettled() {
      return recent.size > 0
    },
    knows,
    learn(position) {
      if (knows(position)) return false
      recent.add(position)
      insert(heap, position)
      return true
    },
    done(position) {
      done.add(position)
      dropDone()
    },
    settle(position) {
      if (position <= settled) return
      settled = position
      for (const known of recent) if (known <= settled) recent.delete(known)
    },
  }
}

/** Positions arrive nearly in order, so they usually need not be moved. */
function insert(heap: number[], value: number): void {
  let at = heap.push(value) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = heap[parent] as number
    if (above <= value) break
    heap[at] = above
    at = parent
  }
  heap[at] = value
}

function removeLowest(heap: number[]): void {
  const value = heap.pop() as number
  const { length } = heap
  if (length === 0) return
  let at = 0
  for (let child = 1; child < length; child = at * 2 + 1) {
    if (child + 1 < length && (heap[child + 1] as number) < (heap[child] as number)) child++
    if ((heap[child] as number) >= value) break
    heap[at] = heap[child] as number
    at = child
  }
  heap[at] = value
}
