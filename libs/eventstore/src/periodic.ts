import { delay, type Logger } from '@opsplane/runtime'

const againMs = 60_000

/** Runs the work now and at an interval until closed; after a failure, which is logged with `failure`, sooner. */
export function startEvery(
  everyMs: number,
  log: Logger,
  failure: string,
  work: (closing: AbortSignal) => Promise<void>,
): { close(): Promise<void> } {
  const closing = new AbortController()
  const run = async () => {
    while (!closing.signal.aborted) {
      let waitMs = everyMs
      try {
        await work(closing.signal)
      } catch (error) {
        waitMs = againMs
        if (!closing.signal.aborted) log.warn({ err: error }, failure)
      }
      await delay(waitMs, closing.signal)
    }
  }
  const running = run()
  return {
    close: async () => {
      closing.abort()
      await running
    },
  }
}

export const startDaily = (log: Logger, failure: string, work: (closing: AbortSignal) => Promise<void>) =>
  startEvery(24 * 3_600_000, log, failure, work)
