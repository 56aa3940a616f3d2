import type { Timer, Timers } from '@opsplane/runtime'
import type { Entry } from './agenda.js'
import type { World } from './world.js'

class VirtualTimer implements Timer {
  entry: Entry | undefined
  unref(): void {}
}

/**
 * A simulated process. Its callbacks run only while it is alive. It is killed between two steps: pending results never
 * arrive, while messages it has sent still arrive elsewhere.
 */
export class Process {
  readonly name: string
  readonly world: World
  readonly timers: Timers
  isAlive = true
  /** Until then nothing in it runs, as if its machine were stopped. */
  #stalledUntil = 0

  constructor(world: World, name: string) {
    this.world = world
    this.name = name
    this.timers = timersOf(this)
  }

  kill(): void {
    this.world.note(`${this.name} is killed`)
    this.isAlive = false
  }

  stall(ms: number): void {
    this.world.note(`${this.name} stalls for ${ms.toFixed(0)} ms`)
    this.#stalledUntil = Math.max(this.#stalledUntil, this.world.now + ms)
  }

  /** Schedules an action of this process, which is dropped if the process is killed before. */
  after(ms: number, act: () => void): Entry {
    const entry = this.world.after(ms, () => this.#run(entry, act))
    return entry
  }

  #run(entry: Entry, act: () => void): void {
    if (!this.isAlive) return
    const leftMs = this.#stalledUntil - this.world.now
    if (leftMs <= 0) act()
    // Delayed in the original order; an earlier action may still cancel it.
    else
      this.world.after(leftMs, () => {
        if (entry.act !== undefined) this.#run(entry, act)
      })
  }
}

function timersOf(process: Process): Timers {
  const { world } = process
  const start = (timer: VirtualTimer, act: () => void, ms: number) => {
    timer.entry = process.after(ms, act)
  }
  const clear = (timer: Timer | undefined) => {
    if (!(timer instanceof VirtualTimer)) return
    if (timer.entry) timer.entry.act = undefined
  }
  return {
    timeOrigin: epochMs,
    now: () => world.now,
    unixMs: () => epochMs + world.now,
    setTimeout(act, ms) {
      const timer = new VirtualTimer()
      start(timer, act, ms)
      return timer
    },
    clearTimeout: clear,
    setInterval(act, ms) {
      const timer = new VirtualTimer()
      const tick = () => {
        start(timer, tick, ms)
        act()
      }
      start(timer, tick, ms)
      return timer
    },
    clearInterval: clear,
    setImmediate: (act) => void process.after(0, act),
  }
}

/** Start of virtual time. */
export const epochMs = Date.parse('2026-01-01T00:00:00.000Z')
