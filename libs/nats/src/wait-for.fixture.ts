import { setTimeout as delay } from 'node:timers/promises'

/** Timeout for the test's own requests to the server: a busy server may be silent for seconds. */
export const longTimeout = { timeout: 60_000 }

/**
 * Repeats a check until it holds; a check that throws does not hold yet. `waitFor` of @opsplane/testing reports
 * more, but depends on this library.
 */
export async function waitFor(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; ; await delay(10)) {
    let cause: unknown
    try {
      if (await holds()) return
    } catch (error) {
      cause = error
    }
    if (Date.now() > end) throw new Error(`it did not come to pass: ${String(cause)}`, { cause })
  }
}
