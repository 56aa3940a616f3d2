/** First-in, first-out queue with constant cost at any length. */
export interface Fifo<T> {
  readonly length: number
  push(item: T): void
  shift(): T | undefined
}

export const createFifo = <T>(): Fifo<T> => new ArrayFifo<T>()

/**
 * A class, because there is one per waiting aggregate and each object literal with an accessor has a separate
 * hidden class (ADR 115).
 */
class ArrayFifo<T> implements Fifo<T> {
  #items: (T | undefined)[] = []
  #first = 0

  get length(): number {
    return this.#items.length - this.#first
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.#first === this.#items.length) return undefined
    const item = this.#items[this.#first]
    this.#items[this.#first++] = undefined
    if (this.#first === this.#items.length) {
      this.#items.length = 0
      this.#first = 0
    } else if (this.#first >= 1_024 && this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }
}
