/** Aborts its signal once it has run for `timeoutMs` without a call of `rest`. */
export class Deadline {
  readonly #controller = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(private readonly timeoutMs: number) {}

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  begin(): void {
    this.rest()
    this.#timer = setTimeout(() => this.#controller.abort(), this.timeoutMs)
  }

  rest(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * Resolves with the result of `work`, or rejects as soon as one of the signals aborts. The `fetch` of Node 20 drops its
 * signal at garbage collection once a response has begun, and then waits for the rest of the body indefinitely.
 */
export async function abortable<Result>(
  work: Promise<Result>,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<Result> {
  const settled = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    for (const signal of signals) {
      if (signal?.aborted) reject(signal.reason)
      signal?.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal })
    }
  })
  return Promise.race([work, aborted]).finally(() => settled.abort())
}
