/** A map that keeps the most recently used entries only. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>()

  constructor(private readonly capacity: number) {}

  get(key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined && this.#entries.size * 2 > this.capacity) this.#touch(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#touch(key, value)
    if (this.#entries.size <= this.capacity) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** Insertion order is age. */
  #touch(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
  }
}
