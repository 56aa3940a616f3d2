interface RetryDelayOptions {
  /** 1 for the first retry. */
  attempt: number
  strategy: 'fixed' | 'exponential'
  /** Delay of the first retry. */
  baseMs: number
  maxMs: number
  /** Share of the delay added or removed at random, such as 0.1; none by default. */
  jitter?: number
  /** A number in [0, 1), when jitter is used. */
  random?: number
}

/** Milliseconds to wait before the given retry; all retries use this function. */
export function retryDelayMs(options: RetryDelayOptions): number {
  const { attempt, strategy, baseMs, maxMs, jitter = 0, random = 0.5 } = options
  const growth = strategy === 'fixed' ? 1 : 2 ** Math.min(attempt - 1, 40)
  const capped = Math.min(baseMs * growth, maxMs)
  return Math.round(capped * (1 + jitter * (2 * random - 1)))
}

/**
 * The delay requested by a Retry-After header, in milliseconds: seconds or an HTTP date. `undefined` if it is
 * neither.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}
