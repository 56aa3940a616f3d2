import type { Process } from './process.js'
import type { World } from './world.js'

/** As postgres.js reports a connection that was lost. */
class ConnectionLostError extends Error {
  readonly code = 'CONNECTION_CLOSED'
}

/**
 * Where transactions commit: entirely or not at all, at one moment, whatever becomes of the process that asked for it. Rows are the
 * caller's: what `commit` does to them is done at once.
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
   * Asks for a statement or the end of a transaction. Rejects where the server is away, and where its answer is lost: then what
   * was asked for is done all the same.
   */
  commit<T>(process: Process, act: () => T): Promise<T> {
    const world = this.#world
    return new Promise((resolve, reject) => {
      if (!process.isAlive) return
      const lost = (what: string) =>
        process.after(this.#latency(), () =>
          reject(new ConnectionLostError(`the connection was lost: ${what}`)),
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

  /** Mostly short; sometimes longer than a lease. */
  #latency(): number {
    const world = this.#world
    if (world.isHostile && world.chance(0.003)) return world.between(500, 7_000)
    return world.between(0.2, world.chance(0.1) ? 40 : 3)
  }
}
