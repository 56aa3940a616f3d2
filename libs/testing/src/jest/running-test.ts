/**
 * Stores the running test, replacing jest-circus's AsyncLocalStorage. Node calls the hooks of every such storage for
 * each promise, and each test file added another one to its worker: after a hundred files an `await` took two hundred
 * times as long. Tests run one after another, so one variable is enough.
 */
export class RunningTest<Context> {
  #context: Context | undefined

  getStore(): Context | undefined {
    return this.#context
  }

  /** Sets `context` until the promise of `work` has settled. */
  async run<Result>(context: Context, work: () => Promise<Result>): Promise<Result> {
    const outer = this.#context
    this.#context = context
    try {
      return await work()
    } finally {
      this.#context = outer
    }
  }
}
