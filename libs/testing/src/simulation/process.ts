import type { Timer, Timers } from '@opsplane/runtime'
import type { Entry } from './agenda.js'
import type { World } from './world.js'

class VirtualTimer implements Timer {
  entry: Entry | undefined
  unref(): void {}
}

/**
 * A process: what it waits for comes to it alone, and to none that was killed. It is killed between two of its steps, so
 * that whatever it was waiting for never comes, while what it has sent still arrives elsewhere.
 */
export class Process {
  readonly name: string
  readonly world: World
  readonly timers: Timers
  isAlive = true
  /** Until then nothing of it runs, as while its machine is stopped. */
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

  /** Something of this process happens later, unless it is killed before. */
  after(ms: number, act: () => void): Entry {
    const entry = this.world.after(ms, () => this.#run(entry, act))
    return entry
  }

  #run(entry: Entry, act: () => void): void {
    if (!this.isAlive) return
    const leftMs = this.#stalledUntil - this.world.now
    if (leftMs <= 0) act()
    // In the order in which it would have come; it may be cancelled by what comes before.
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

/** Where virtual time begins. */
export const epochMs = Date.parse('2026-01-01T00:00:00.000Z')
