import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, createReleasers } from '@opsplane/runtime'

const releasers = createReleasers(createLogger({ service: 'bench', level: 'silent' }))

/** Has something ended together with the bench, however that ends: its children, servers and folders. The last comes first. */
export const endWithBench = (name: string, end: () => Promise<void> | void): void => releasers.add(name, end)

/** Ends everything, once; what cannot be ended does not keep the rest. */
export const endAll = (): Promise<void> => releasers.release()

/** A folder that is removed with the bench. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `opsplane-bench-${name}-`))
  endWithBench(folder, () =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  )
  return folder
}

export class InterruptedError extends Error {
  constructor(readonly exitCode: number) {
    super('the bench was interrupted')
    this.name = 'InterruptedError'
  }
}

/**
 * Rejects with InterruptedError when the bench is asked to end, a second signal is not waited for; and with errors that are not caught elsewhere.
 * From then on what is still measured may fail, as its servers end before it.
 */
export function waitForInterrupt(): Promise<never> {
  return new Promise((_, reject) => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const)
      process.once(signal, () => reject(new InterruptedError(code)))
    process.on('unhandledRejection', reject)
    process.on('uncaughtException', reject)
  })
}
