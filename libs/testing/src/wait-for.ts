import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

export interface WaitForOptions {
  timeoutMs?: number
  intervalMs?: number
  /** What is waited for, for the error. */
  message?: string
}

/**
 * Repeats a check until it returns something truthy, and returns that. A check that throws counts as
 * not yet, so assertions can be waited for. The time is for what never comes, also on a slow and busy machine; a time
 * that is promised is a test's own to measure.
 */
export async function waitFor<T>(
  check: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  { timeoutMs = 60_000, intervalMs = 20, message = 'the condition' }: WaitForOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    let last: string
    let cause: unknown
    try {
      const value = await check()
      if (value) return value
      last = `last value: ${inspect(value)}`
    } catch (error) {
      cause = error
      last = `last error: ${error instanceof Error ? error.message : inspect(error)}`
    }
    if (Date.now() >= deadline) {
      throw new Error(`Waited ${timeoutMs} ms for ${message}; ${last}`, { cause })
    }
    await delay(intervalMs)
  }
}
