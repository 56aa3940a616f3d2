/** Thrown in work that is abandoned. */
export class CutOff extends Error {}

/** Work that can be abandoned as a whole, together with its parent or alone. */
export class Cutting<Reason> {
  readonly #parent: Cutting<Reason> | null
  readonly #sleepers = new Set<() => void>()
  reason: Reason | null = null

  constructor(parent: Cutting<Reason> | null) {
    this.#parent = parent
  }

  get isCut(): boolean {
    return this.reason !== null || this.isCutOutside
  }

  get isCutOutside(): boolean {
    return this.#parent?.isCut ?? false
  }

  get root(): Cutting<Reason> {
    return this.#parent?.root ?? this
  }

  cut(reason: Reason): void {
    this.reason ??= reason
    for (const wake of this.#sleepers) wake()
  }

  watch(wake: () => void): void {
    this.#sleepers.add(wake)
    this.#parent?.watch(wake)
  }
}

/** Simulated time, which advances when all work is waiting. */
export class Clock {
  now = 0
  #agenda: { at: number; wake: () => void }[] = []

  /** Throws `CutOff` if the work has been or is abandoned. */
  sleepUntil(at: number, cutting?: Cutting<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = { at, wake: resolve }
      const give = () => {
        this.#agenda = this.#agenda.filter((other) => other !== entry)
        reject(new CutOff())
      }
      if (cutting?.isCut) return give()
      this.#agenda.push(entry)
      cutting?.watch(give)
    })
  }

  sleep(ms: number, cutting?: Cutting<unknown>): Promise<void> {
    return this.sleepUntil(this.now + ms, cutting)
  }

  /** Advances time until the promise settles; other work still active is dropped. */
  async until<Result>(promise: Promise<Result>): Promise<Result> {
    let isOut = false
    const out = promise.finally(() => {
      isOut = true
    })
    for (;;) {
      await new Promise(setImmediate)
      if (isOut) break
      const next = this.#agenda.reduce((first, each) => (each.at < first.at ? each : first))
      this.#agenda = this.#agenda.filter((each) => each !== next)
      this.now = next.at
      next.wake()
    }
    this.#agenda = []
    return out
  }
}
