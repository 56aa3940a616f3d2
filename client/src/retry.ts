import { retryDelayMs } from '@opsplane/runtime/retry-delay'
import { OpsplaneError } from './error.js'

export interface RetryOptions {
  /** How often a request is sent again at most. */
  retries: number
  /** Delay of the first retry; each later one doubles it. 200 unless given. */
  baseMs?: number
  /** 10 000 unless given; a longer Retry-After is not waited for. */
  maxMs?: number
  /** For tests: waits, and a number in [0, 1). */
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>
  random?: () => number
}

type Fetch = (request: Request) => Promise<Response>

const jitter = 0.2

/** Rejects as soon as the request is given up. */
const waitFor = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

/**
 * Sends a request again after a retryable answer or a lost connection. The repetition carries the same
 * Idempotency-Key, so that what took effect takes effect once.
 */
export function withRetries(send: Fetch, options: RetryOptions): Fetch {
  const { retries, baseMs = 200, maxMs = 10_000, wait = waitFor, random = Math.random } = options
  return async (request) => {
    for (let attempt = 1; ; attempt++) {
      const last = attempt > retries
      const outcome = await send(last ? request : request.clone()).catch((error: unknown) => ({ error }))
      const lost = 'error' in outcome
      if (lost && (last || request.signal.aborted)) throw outcome.error
      if (!lost && (last || !(await isRetryable(outcome)))) return outcome
      const asked = lost ? 0 : retryAfterMs(outcome)
      if (!lost && asked > maxMs) return outcome
      const backOff = { attempt, strategy: 'exponential' as const, baseMs, maxMs, jitter, random: random() }
      if (!lost) await outcome.body?.cancel()
      await wait(Math.max(asked, retryDelayMs(backOff)), request.signal)
    }
  }
}

async function isRetryable(response: Response): Promise<boolean> {
  if (response.ok) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  return new OpsplaneError(response.status, body, response).retryable
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 0)
  return Number.isFinite(seconds) ? seconds * 1000 : 0
}
