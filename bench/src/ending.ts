import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, createReleasers } from '@opsplane/runtime'

const releasers = createReleasers(createLogger({ service: 'bench', level: 'silent' }))

/**
 * Registers something to release when the bench ends for any reason: child processes, servers and folders. Released
 * in reverse order.
 */
export const endWithBench = (name: string, end: () => Promise<void> | void): void => releasers.add(name, end)

/** Releases everything, once; a failure does not keep the others from being released. */
export const endAll = (): Promise<void> => releasers.release()

/** Creates a folder that is removed when the bench ends. */
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
 * Rejects with InterruptedError when the bench receives a signal (a second signal is not waited for), and with
 * otherwise uncaught errors. Measurements that are still running may fail afterwards, because their servers end
 * before them.
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
