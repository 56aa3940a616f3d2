import type { Logger } from '@opsplane/runtime'
import { createChildPool } from '../pool/pool.js'
import { createCodePool } from './code-pool.js'
import { compileRequest, requestCompilation } from './compile/messages.js'
import { codeProgram, compileProgram } from './program.js'
import { cancelledOutcome, createRun, failedOutcome } from './run.js'
import { sourceStack, splitMap } from './stack.js'
import type { CodeOutcome, CodeRunner } from './types.js'

export interface CodeRunnerOptions {
  log: Logger
  /** Maximum number of processes, including spare ones; one further process compiles. */
  children?: number
  childrenOfTenant?: number
  /** Number of processes kept ready for the next tenant, after the first request. */
  spares?: number
  /** Processes that are idle for longer are stopped, in milliseconds. */
  idleMs?: number
  /** How long a tenant may keep a child that other tenants wait for, in milliseconds. */
  turnMs?: number
  /** Maximum time a run waits for a child, in milliseconds. */
  maxWaitMs?: number
  /** Maximum number of waiting runs of one tenant. */
  maxWaiting?: number
}

const defaults = {
  children: 24,
  childrenOfTenant: 4,
  spares: 1,
  idleMs: 30_000,
  turnMs: 1_000,
  maxWaitMs: 30_000,
  maxWaiting: 1_000,
}
const startMs = 30_000
const heapMb = 96
const compileHeapMb = 256
/** Resident memory of a process in addition to the limits of its runs. */
const ownBytes = 320 * 1024 * 1024
const frameBytes = 32 * 1024 * 1024
const compileMs = 10_000
const compiledBytes = 16 * 1024 * 1024

/** Runs and compiles code of tenants in child processes (ADR 067). */
export function createCodeRunner(
  options: CodeRunnerOptions,
): CodeRunner & { pids(state?: 'all' | 'working' | 'spare'): number[] } {
  const settings = { ...defaults, ...options }
  const { log, idleMs, maxWaitMs } = settings
  const pool = createCodePool({ ...settings, program: codeProgram(heapMb), startMs, frameBytes, ownBytes })
  const compilers = createChildPool({
    log,
    program: compileProgram(compileHeapMb),
    limits: { startMs, residentBytes: 2 * compileHeapMb * 1024 * 1024, replyBytes: compiledBytes },
    children: 1,
    idleMs,
    maxWaiting: 100,
    maxWaitMs,
  })

  return {
    run: (request) =>
      new Promise((resolve, reject) => {
        const { script, map } = splitMap(request.code)
        const { signal, limits } = request
        const args = JSON.stringify(request.args)
        const done = (outcome: CodeOutcome) => {
          signal?.removeEventListener('abort', cancel)
          resolve(mapped(outcome, map))
        }
        const run = createRun({ ...request, code: script }, args, done)
        const cancel = () => pool.end(run, cancelledOutcome)
        if (signal?.aborted) return run.settle(cancelledOutcome)
        if (Buffer.byteLength(args) > limits.inputBytes)
          return run.settle(
            failedOutcome('input_too_large', `its input has more than ${limits.inputBytes} bytes`),
          )
        signal?.addEventListener('abort', cancel)
        pool.add(run).catch((error: unknown) => {
          signal?.removeEventListener('abort', cancel)
          reject(error)
        })
      }),
    async compile({ tenant, ...source }) {
      const request = compileRequest(source)
      if (typeof request !== 'string') return request
      return requestCompilation(compilers, { tenant, text: request, deadlineMs: compileMs })
    },
    pids: pool.pids,
    async close() {
      await Promise.all([pool.close(), compilers.close()])
    },
  }
}

function mapped(outcome: CodeOutcome, map: string | undefined): CodeOutcome {
  const { error } = outcome
  return error ? { ...outcome, error: { ...error, stack: sourceStack(error.stack, map) } } : outcome
}
