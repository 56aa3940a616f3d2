/** One poll waiting for events of a subject. It is its own abort listener and list entry, to minimize memory. */
export class Waiter {
  #news = false
  #ended = false
  #resolve: ((isWoken: boolean) => void) | undefined

  constructor(
    readonly subject: string,
    /** The sweep that ends it. */
    readonly tick: number,
    readonly signal: AbortSignal,
  ) {
    if (signal.aborted) this.#ended = true
    else signal.addEventListener('abort', this)
  }

  /**
   * Resolves to true if something may have been published since the registration or the last
   * call; to false when the poll has ended.
   */
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

  /** The client disconnected. */
  handleEvent(): void {
    this.end()
  }

  #settle(isWoken: boolean): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    resolve?.(isWoken)
  }
}

const tickMs = 50

/** The polls waiting on this replica. They share one timer, which only runs while there are polls. */
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

  /** Register before reading, so that anything published in between counts as new. */
  add(subject: string, timeoutMs: number, signal: AbortSignal): Waiter {
    const waiter = new Waiter(subject, Math.ceil((this.nowMs() + timeoutMs) / tickMs), signal)
    addWaiter(this.#bySubject, subject, waiter)
    addWaiter(this.#byTick, waiter.tick, waiter)
    if (this.#drained) waiter.end()
    this.#sweep ??= setInterval(() => this.sweep(), tickMs)
    return waiter
  }

  remove(waiter: Waiter): void {
    waiter.signal.removeEventListener('abort', waiter)
    removeWaiter(this.#bySubject, waiter.subject, waiter)
    removeWaiter(this.#byTick, waiter.tick, waiter)
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

  /** Ends the polls whose timeout has passed. */
  sweep(): void {
    const now = this.nowMs() / tickMs
    for (const [tick, waiters] of this.#byTick) if (tick <= now) for (const waiter of waiters) waiter.end()
  }

  /** Ends all polls, and every later one immediately. */
  drain(): void {
    this.#drained = true
    for (const waiters of this.#bySubject.values()) for (const waiter of waiters) waiter.end()
  }
}

function addWaiter<Key>(map: Map<Key, Set<Waiter>>, key: Key, waiter: Waiter): void {
  const waiters = map.get(key)
  if (waiters) waiters.add(waiter)
  else map.set(key, new Set([waiter]))
}

function removeWaiter<Key>(map: Map<Key, Set<Waiter>>, key: Key, waiter: Waiter): void {
  const waiters = map.get(key)
  waiters?.delete(waiter)
  if (waiters?.size === 0) map.delete(key)
}
