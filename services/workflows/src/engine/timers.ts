/** A subject that is due at an instant. */
export interface Timer<Subject> {
  /** Unix milliseconds. */
  readonly at: number
  readonly subject: Subject
  /** Index in the heap; -1 if removed. */
  slot: number
}

/** Timers ordered by due time. Finding the next one takes constant time, adding and removing logarithmic time. */
export class Timers<Subject> {
  readonly #heap: Timer<Subject>[] = []

  /** The timer that is due first. */
  get next(): Timer<Subject> | undefined {
    return this.#heap[0]
  }

  add(at: number, subject: Subject): Timer<Subject> {
    const timer = { at, subject, slot: this.#heap.length }
    this.#heap.push(timer)
    this.#rise(timer)
    return timer
  }

  /** Has no effect on a timer already removed. */
  remove(timer: Timer<Subject>): void {
    if (this.#heap[timer.slot] !== timer) return
    const last = this.#heap.pop()
    if (last !== undefined && last !== timer) {
      this.#put(last, timer.slot)
      this.#rise(last)
      this.#sink(last)
    }
    timer.slot = -1
  }

  #rise(timer: Timer<Subject>): void {
    for (;;) {
      const above = this.#heap[(timer.slot - 1) >> 1]
      if (timer.slot === 0 || above === undefined || above.at <= timer.at) return
      this.#swap(above, timer)
    }
  }

  #sink(timer: Timer<Subject>): void {
    for (;;) {
      const left = this.#heap[2 * timer.slot + 1]
      const right = this.#heap[2 * timer.slot + 2]
      const below = right !== undefined && left !== undefined && right.at < left.at ? right : left
      if (below === undefined || below.at >= timer.at) return
      this.#swap(timer, below)
    }
  }

  #swap(above: Timer<Subject>, below: Timer<Subject>): void {
    const slot = above.slot
    this.#put(above, below.slot)
    this.#put(below, slot)
  }

  #put(timer: Timer<Subject>, slot: number): void {
    this.#heap[slot] = timer
    timer.slot = slot
  }
}
