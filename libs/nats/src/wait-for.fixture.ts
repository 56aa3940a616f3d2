import { setTimeout as delay } from 'node:timers/promises'

/** What a test itself asks of the server has so long: a busy one may be silent for seconds. */
export const longTimeout = { timeout: 60_000 }

/**
 * Repeats a check until it holds; one that throws does not hold yet. `waitFor` of @opsplane/testing says more, and needs
 * this library.
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
