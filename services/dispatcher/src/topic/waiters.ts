/** One poll that waits for news of a subject. Its own abort listener and list entry, to cost as little as can be. */
export class Waiter {
  #news = false
  #ended = false
  #resolve: ((news: boolean) => void) | undefined

  constructor(
    readonly subject: string,
    /** The sweep that ends it. */
    readonly tick: number,
    readonly signal: AbortSignal,
  ) {
    if (signal.aborted) this.#ended = true
    else signal.addEventListener('abort', this)
  }

  /** True once something may have been published since this was registered or last asked; false when it is over. */
  news(): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false)
    if (this.#news) {
      this.#news = false
      return Promise.resolve(true)
    }
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  wake(): void {
    if (this.#resolve) this.#settle(true)
    else this.#news = true
  }

  end(): void {
    this.#ended = true
    this.#settle(false)
  }

  /** The client has gone. */
  handleEvent(): void {
    this.end()
  }

  #settle(news: boolean): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    resolve?.(news)
  }
}

const tickMs = 50

/** The polls that wait on this replica. One timer for all of them, and none while there is no poll. */
export class Waiters {
  readonly #bySubject = new Map<string, Set<Waiter>>()
  readonly #byTick = new Map<number, Set<Waiter>>()
  #sweep: NodeJS.Timeout | undefined
  #drained = false

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  get size(): number {
    let size = 0
    for (const waiters of this.#bySubject.values()) size += waiters.size
    return size
  }

  /** Register first and read afterwards: what is published in between is then news. */
  add(subject: string, timeoutMs: number, signal: AbortSignal): Waiter {
    const waiter = new Waiter(subject, Math.ceil((this.nowMs() + timeoutMs) / tickMs), signal)
    put(this.#bySubject, subject, waiter)
    put(this.#byTick, waiter.tick, waiter)
    if (this.#drained) waiter.end()
    this.#sweep ??= setInterval(() => this.sweep(), tickMs)
    return waiter
  }

  remove(waiter: Waiter): void {
    waiter.signal.removeEventListener('abort', waiter)
    take(this.#bySubject, waiter.subject, waiter)
    take(this.#byTick, waiter.tick, waiter)
    if (this.#byTick.size > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  wake(subject: string): void {
    for (const waiter of this.#bySubject.get(subject) ?? []) waiter.wake()
  }

  wakeAll(): void {
    for (const waiters of this.#bySubject.values()) for (const waiter of waiters) waiter.wake()
  }

  /** Ends those whose time has come. */
  sweep(): void {
    const now = this.nowMs() / tickMs
    for (const [tick, waiters] of this.#byTick) if (tick <= now) for (const waiter of waiters) waiter.end()
  }

  /** Ends all, and from now on every one at once. */
  drain(): void {
    this.#drained = true
    for (const waiters of this.#bySubject.values()) for (const waiter of waiters) waiter.end()
  }
}

function put<Key>(map: Map<Key, Set<Waiter>>, key: Key, waiter: Waiter): void {
  const waiters = map.get(key)
  if (waiters) waiters.add(waiter)
  else map.set(key, new Set([waiter]))
}

function take<Key>(map: Map<Key, Set<Waiter>>, key: Key, waiter: Waiter): void {
  const waiters = map.get(key)
  waiters?.delete(waiter)
  if (waiters?.size === 0) map.delete(key)
}
