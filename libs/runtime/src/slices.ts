import { setImmediate } from 'node:timers/promises'

/**
 * Divides long work on a loop that others share: what is returned is awaited after each step, and gives others their turn once
 * `sliceMs` have passed since the last one. A slice is as long as that and one step.
 */
export function createSlices(sliceMs = 10): () => Promise<void> {
  let startedAt = performance.now()
  return async () => {
    if (performance.now() - startedAt < sliceMs) return
    await setImmediate()
    startedAt = performance.now()
  }
}
