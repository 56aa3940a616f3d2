import { isDependencyUnavailable } from '@opsplane/postgres'
import { delay, type Logger, retryDelayMs, type Timers } from '@opsplane/runtime'
import type { AttemptRecording, RecordBatch } from './record-results.js'

export interface ResultRecorderOptions {
  record: RecordBatch
  timers: Timers
  log: Logger
  /** When aborted, results are dropped if Postgres is unavailable, as when the recorder closes. */
  stopping: AbortSignal
  /** Called when events were committed. */
  announce(): void
}

export interface ResultRecorder {
  /** Resolves once the result is durable, with true if its webhook is now paused. */
  add(result: AttemptRecording): Promise<boolean>
  /** Number of results that are not durable yet. */
  pending(): number
  /** Records the remaining results. */
  close(): Promise<void>
}

const maxBatch = 200
const triesPerBatch = 3

type Waiting = { result: AttemptRecording; done: (isPaused: boolean) => void }

/** Writes results in batches: results that arrive while a statement runs share the next one. */
export function createResultRecorder(options: ResultRecorderOptions): ResultRecorder {
  const { record, timers, log } = options
  let queue: Waiting[] = []
  let writing: Promise<void> | undefined
  const closing = new AbortController()
  const stopSignal = AbortSignal.any([options.stopping, closing.signal])

  /**
   * Retries until the batch is written; results are kept while Postgres is unavailable. If Postgres rejects the batch,
   * its results are written one by one and finally without details.
   */
  async function write(batch: Waiting[], bare = false): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const paused = await record(batch.map(({ result }) => (bare ? withoutDetail(result) : result)))
        for (const { result, done } of batch) done(paused.includes(result.target.id))
        if (paused.length > 0) options.announce()
        return
      } catch (error) {
        if (isDependencyUnavailable(error) && stopSignal.aborted) return discardBatch(batch, error)
        if (!isDependencyUnavailable(error) && attempt >= triesPerBatch) return writeApart(batch, bare, error)
        if (attempt === 1)
          log.warn(
            { err: error, results: batch.length },
            'results of delivery attempts could not be recorded yet; trying again',
          )
        await delay(
          retryDelayMs({ attempt, strategy: 'exponential', baseMs: 50, maxMs: 2_000 }),
          stopSignal,
          timers,
        )
      }
    }
  }

  async function writeApart(batch: Waiting[], bare: boolean, error: unknown) {
    if (batch.length > 1) for (const waiting of batch) await write([waiting])
    else if (!bare) await write(batch, true)
    else discardBatch(batch, error)
  }

  /** The leases expire, and the deliveries are attempted again. */
  function discardBatch(batch: Waiting[], error: unknown) {
    log.error(
      { err: error, deliveries: batch.map(({ result }) => result.row.id) },
      'results of delivery attempts were not recorded; the deliveries are attempted again',
    )
    for (const { done } of batch) done(false)
  }

  async function writeAll() {
    while (queue.length > 0) {
      const batch = queue.slice(0, maxBatch)
      queue = queue.slice(maxBatch)
      await write(batch)
    }
    writing = undefined
  }

  return {
    add: (result) =>
      new Promise((done) => {
        queue.push({ result, done })
        // After other results of this turn of the event loop, so that they share a statement.
        writing ??= new Promise<void>((turn) => timers.setImmediate(turn)).then(writeAll)
      }),
    pending: () => queue.length,
    async close() {
      closing.abort()
      await writing
    },
  }
}

function withoutDetail(result: AttemptRecording): AttemptRecording {
  const nothing = { response_headers: null, response_body: null, body_start: null, request_headers: {} }
  return { ...result, row: { ...result.row, ...nothing } }
}
