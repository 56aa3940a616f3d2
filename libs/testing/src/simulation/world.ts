import { seededRandom } from '../seeded-random.js'
import { Agenda, type Entry } from './agenda.js'

/** An invariant of the system is violated. */
export class InvariantError extends Error {}

/** Virtual time and all randomness, derived from one seed. */
export class World {
  readonly seed: number
  now = 0
  /** While set, faults occur; otherwise the system can settle. */
  isHostile = true
  /** Log of what happened, printed for a failing seed. */
  readonly history: string[] = []
  readonly #agenda = new Agenda()
  readonly #random: () => number
  #broken: InvariantError | undefined

  constructor(seed: number) {
    this.seed = seed
    this.#random = seededRandom(seed)
  }

  /** Returns `true` with this probability. */
  chance(probability: number): boolean {
    return this.#random() < probability
  }

  between(min: number, max: number): number {
    return min + this.#random() * (max - min)
  }

  integer(min: number, max: number): number {
    return Math.floor(this.between(min, max + 1))
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)]
    if (picked === undefined) throw new Error('there is nothing to pick from')
    return picked
  }

  after(ms: number, act: () => void): Entry {
    return this.#agenda.plan(this.now + Math.max(0, ms), act)
  }

  note(message: string): void {
    this.history.push(`${this.now.toFixed(1)} ${message}`)
  }

  /** Reports a violated invariant: the run ends with the first one. */
  broken(message: string): void {
    this.note(`BROKEN: ${message}`)
    this.#broken ??= new InvariantError(message)
  }

  /** Runs all actions up to a moment, or until `done`; after each step, waits until its promises have settled. */
  async run(endMs: number, done: () => boolean = () => false): Promise<void> {
    for (;;) {
      await new Promise(setImmediate)
      if (this.#broken) throw this.#broken
      if (done()) return
      const entry = this.#agenda.next()
      if (!entry) return
      if (entry.at > endMs) {
        this.#agenda.plan(entry.at, entry.act ?? (() => {}))
        this.now = endMs
        return
      }
      this.now = entry.at
      entry.act?.()
    }
  }
}
