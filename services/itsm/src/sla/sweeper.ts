import type { Closable } from '@opsplane/eventstore'
import { delay, type Logger } from '@opsplane/runtime'
import { batchSize, type Clocks } from './clocks.js'

/** Replicas look this often; each clock is taken by one of them. */
const lookEveryMs = 500

/** Tells what is due for as long as it runs. Postgres being away is waited out. */
export function startSweeper(clocks: Pick<Clocks, 'sweep'>, log: Logger): Closable {
  const closing = new AbortController()
  const run = async () => {
    let failed = false
    while (!closing.signal.aborted) {
      try {
        while (!closing.signal.aborted && (await clocks.sweep()) >= batchSize);
        failed = false
      } catch (error) {
        if (!failed) log.warn({ err: error }, 'due SLA clocks cannot be read')
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
