import { setTimeout as delay } from 'node:timers/promises'

/** Repeats a check until it holds. `waitFor` of @opsplane/testing says more, and needs this library. */
export async function waitFor(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await delay(10))
    if (Date.now() > end) throw new Error('it did not come to pass')
}
