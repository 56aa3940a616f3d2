/** First in, first out, at constant cost however long it is. */
export interface Fifo<T> {
  readonly length: number
  push(item: T): void
  shift(): T | undefined
}

export function createFifo<T>(): Fifo<T> {
  let items: T[] = []
  let first = 0
  return {
    get length() {
      return items.length - first
    },
    push(item) {
      items.push(item)
    },
    shift() {
      if (first === items.length) return undefined
      const item = items[first++]
      if (first >= 1_024 && first * 2 >= items.length) {
        items = items.slice(first)
        first = 0
      }
      return item
    },
  }
}
