import type { Process } from './process.js'
import type { World } from './world.js'

/** The error postgres.js reports for a lost connection. */
class ConnectionLostError extends Error {
  readonly code = 'CONNECTION_CLOSED'
}

/**
 * Commits transactions atomically at one moment of virtual time, even if the requesting process is killed. The rows
 * belong to the caller: `commit` changes them immediately.
 */
export class DatabaseServer {
  readonly #world: World
  #awayUntil = 0

  constructor(world: World) {
    this.#world = world
  }

  goAway(ms: number): void {
    this.#world.note(`Postgres is away for ${ms.toFixed(0)} ms`)
    this.#awayUntil = Math.max(this.#awayUntil, this.#world.now + ms)
  }

  get isAway(): boolean {
    return this.#awayUntil > this.#world.now
  }

  /**
   * Executes a statement or the end of a transaction. Rejects if the server is away, or if its answer is lost: in the
   * latter case the effect has taken place.
   */
  commit<T>(process: Process, act: () => T): Promise<T> {
    const world = this.#world
    return new Promise((resolve, reject) => {
      if (!process.isAlive) return
      const lost = (reason: string) =>
        process.after(this.#latency(), () =>
          reject(new ConnectionLostError(`the connection was lost: ${reason}`)),
        )
      world.after(this.#latency(), () => {
        if (this.isAway) return lost('the server is away')
        if (world.isHostile && world.chance(0.004)) return lost('before the statement')
        let answer: () => void
        try {
          const value = act()
          answer = () => resolve(value)
        } catch (error) {
          answer = () => reject(error)
        }
        if (world.isHostile && world.chance(0.004)) return lost('before its answer')
        return process.after(this.#latency(), answer)
      })
    })
  }

  /** Usually short; sometimes longer than a lease. */
  #latency(): number {
    const world = this.#world
    if (world.isHostile && world.chance(0.003)) return world.between(500, 7_000)
    return world.between(0.2, world.chance(0.1) ? 40 : 3)
  }
}
