/** Aborts its signal when it has run for so long without a rest. */
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
 * The outcome of work, or a rejection as soon as one of the signals aborts. Once an answer has begun, the client of Node
 * 20 forgets the signal it was given when memory is collected, and then waits for the rest of the body for ever.
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
