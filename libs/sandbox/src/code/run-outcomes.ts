import { z } from 'zod'
import { maxDepth, measureValue } from '../limits.js'
import type { ChildFailure } from '../pool/channel.js'
import type { ChildHeader } from './child-header.js'
import { entryBytes } from './protocol.js'
import { failedOutcome, type Run, type RunOutcome, type RunUsage, timeoutOutcome } from './run.js'
import type { Json } from './types.js'

/** Outcome of a run whose child failed. */
export function toRunOutcome(failure: ChildFailure, { limits }: Run): RunOutcome {
  if (failure === 'deadline') return timeoutOutcome('cpu', limits)
  if (failure === 'memory') return failedOutcome('out_of_memory', 'it takes too much memory')
  return failedOutcome('crashed', 'the process that ran it has ended')
}

/** Estimated usage of a run whose child could not report it. */
export const estimateUsage = (failure: ChildFailure, { limits }: Run): RunUsage => ({
  cpuMs: failure === 'deadline' ? limits.cpuMs : 0,
  memoryMb: failure === 'memory' ? limits.memoryMb : 0,
})

const Thrown = z
  .object({
    name: z.string().max(100),
    code: z.string().max(100).nullable(),
    cause: z.string().max(1_000).nullable(),
  })
  .nullable()

/** `thrown` is JSON; throws if it is not. */
export function parseFailure(
  { limits }: Run,
  code: string,
  message: string,
  stack: string,
  thrown: string,
): RunOutcome {
  if (code === 'cpu_timeout') return timeoutOutcome('cpu', limits)
  return failedOutcome(code, message, stack, Thrown.parse(JSON.parse(thrown)))
}

/** Throws if the output is not JSON. */
export function parseOutput(json: string): RunOutcome {
  const output = JSON.parse(json) as Json
  const { problem } = measureValue(output, { bytes: Number.POSITIVE_INFINITY, depth: maxDepth })
  return problem
    ? failedOutcome('output_invalid', `its output is not allowed: ${problem}`)
    : { status: 'completed', output }
}

/** `text` is the message and `json` the data, both as JSON; throws if they are not. */
export function appendLog(
  run: Run,
  { level, at, truncated }: Extract<ChildHeader, { op: 'log' }>,
  text: string,
  json: string,
): void {
  if (truncated) run.logsTruncated()
  const message = String(JSON.parse(text))
  const parsed = JSON.parse(json) as Json
  const { problem } = measureValue(parsed, { bytes: Number.POSITIVE_INFINITY, depth: maxDepth })
  const data = problem ? null : parsed
  if (truncated && message === '') return
  const bytes = Buffer.byteLength(message) + (data === null ? 0 : Buffer.byteLength(json)) + entryBytes
  run.log({ level, message, data, ts: new Date(at).toISOString() }, bytes)
}
