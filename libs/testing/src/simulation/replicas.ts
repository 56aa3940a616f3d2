import type { Process } from './process.js'
import type { World } from './world.js'

/** One process of a service, and the parts that run in it. */
export interface Replica {
  readonly process: Process
}

/** The replicas of a service: each is killed occasionally and restarted under its name. */
export class Replicas<R extends Replica> {
  readonly #world: World
  readonly #start: (name: string) => R
  readonly #onKilled: (replica: R) => void
  readonly #replicas: R[]

  constructor(
    world: World,
    names: readonly string[],
    start: (name: string) => R,
    onKilled: (replica: R) => void,
  ) {
    this.#world = world
    this.#start = start
    this.#onKilled = onKilled
    this.#replicas = names.map(start)
  }

  /** A random replica, which may have been killed. */
  pick(): R {
    return this.#world.pick(this.#replicas)
  }

  get areAlive(): boolean {
    return this.#replicas.every(({ process }) => process.isAlive)
  }

  /** Kills a live replica and restarts it after `afterMs`. */
  restart(replica: R, afterMs: number): void {
    const { process } = replica
    if (!process.isAlive) return
    process.kill()
    this.#onKilled(replica)
    this.#world.after(afterMs, () => {
      this.#world.note(`${process.name} starts again`)
      this.#replicas[this.#replicas.indexOf(replica)] = this.#start(process.name)
    })
  }
}
