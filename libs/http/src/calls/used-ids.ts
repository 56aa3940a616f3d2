/** Remembers ids for at least `keptMs` and accepts none twice within that time. */
export class UsedIds {
  #current = new Set<string>()
  #previous = new Set<string>()
  #turnedAt = performance.now()

  constructor(private readonly keptMs: number) {}

  /** Returns `false` if the id was added before. */
  add(id: string): boolean {
    const age = performance.now() - this.#turnedAt
    if (age >= this.keptMs) {
      this.#previous = age >= 2 * this.keptMs ? new Set() : this.#current
      this.#current = new Set()
      this.#turnedAt = performance.now()
    }
    if (this.#current.has(id) || this.#previous.has(id)) return false
    this.#current.add(id)
    return true
  }
}
