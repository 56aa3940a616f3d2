/**
 * The test that runs, in place of the AsyncLocalStorage that jest-circus keeps it in. Node calls the hooks of every such
 * storage for each promise there is, and each test file brought one more to its worker: after a hundred files an `await`
 * took two hundred times as long. Tests run one after the other, so that one variable tells as much.
 */
export class RunningTest<Context> {
  #context: Context | undefined

  getStore(): Context | undefined {
    return this.#context
  }

  /** Until what `work` promises is settled, `context` is the one. */
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
