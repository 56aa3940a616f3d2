import { delay, type Logger } from '@opsplane/runtime'
import type { BackgroundWork } from '@opsplane/service'

export interface SweeperOptions {
  /** Does what is due, one batch. How many it took. */
  sweep(): Promise<number>
  /** As many mean that more may be due. */
  batchSize: number
  /** Replicas look this often; each row is taken by one of them. */
  lookEveryMs: number
  /** Said once when it begins to fail. */
  trouble: string
  log: Logger
}

/** Does what is due for as long as it runs. Postgres being away is waited out. */
export function startSweeper({
  sweep,
  batchSize,
  lookEveryMs,
  trouble,
  log,
}: SweeperOptions): BackgroundWork {
  const closing = new AbortController()
  const run = async () => {
    let failed = false
    while (!closing.signal.aborted) {
      try {
        while (!closing.signal.aborted && (await sweep()) >= batchSize);
        failed = false
      } catch (error) {
        if (!failed) log.warn({ err: error }, trouble)
        failed = true
      }
      await delay(lookEveryMs, closing.signal)
    }
  }
  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
