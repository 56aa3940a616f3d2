type Step = () => void | Promise<void>

// Jest may load the set-up and the tear-down as two copies of a module, but in one process.
const KEY = Symbol.for('opsplane.testing.cleanup')
const holder = globalThis as { [KEY]?: Step[] }

/** Adds a step to the end of the test run; steps run in reverse order. */
export function onTeardown(step: Step): void {
  holder[KEY] = [step, ...(holder[KEY] ?? [])]
}

/** Runs all steps even if one fails, and then throws the first failure. */
export async function runTeardown(): Promise<void> {
  const failures: unknown[] = []
  for (const step of holder[KEY] ?? []) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  holder[KEY] = []
  if (failures.length > 0) throw failures[0]
}
