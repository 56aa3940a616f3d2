import { z } from 'zod'
import { maxDepth, measure } from '../limits.js'
import type { ChildFailure } from '../pool/channel.js'
import type { ChildHeader } from './child-header.js'
import { entryBytes } from './protocol.js'
import { type Ending, failed, type Run, timedOut, type Used } from './run.js'
import type { Json } from './types.js'

/** How a run ended with its child. */
export function endingOf(failure: ChildFailure, { limits }: Run): Ending {
  if (failure === 'deadline') return timedOut('cpu', limits)
  if (failure === 'memory') return failed('out_of_memory', 'it takes too much memory')
  return failed('crashed', 'the process that ran it has ended')
}

/** What is known of one that its child could not say anything of. */
export const usedBy = (failure: ChildFailure, { limits }: Run): Used => ({
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

/** `thrown` is JSON; throws where it is not. */
export function failureOf(
  { limits }: Run,
  code: string,
  message: string,
  stack: string,
  thrown: string,
): Ending {
  if (code === 'cpu_timeout') return timedOut('cpu', limits)
  return failed(code, message, stack, Thrown.parse(JSON.parse(thrown)))
}

/** Throws where it is no JSON. */
export function outputOf(json: string): Ending {
  const output = JSON.parse(json) as Json
  const { problem } = measure(output, { bytes: Number.POSITIVE_INFINITY, depth: maxDepth })
  return problem
    ? failed('output_invalid', `its output is not allowed: ${problem}`)
    : { status: 'completed', output }
}

/** `text` is the message and `json` the data, both JSON; throws where they are not. */
export function keepLog(
  run: Run,
  { level, at, truncated }: Extract<ChildHeader, { op: 'log' }>,
  text: string,
  json: string,
): void {
  if (truncated) run.logsTruncated()
  const message = String(JSON.parse(text))
  const parsed = JSON.parse(json) as Json
  const { problem } = measure(parsed, { bytes: Number.POSITIVE_INFINITY, depth: maxDepth })
  const data = problem ? null : parsed
  if (truncated && message === '') return
  const bytes = Buffer.byteLength(message) + (data === null ? 0 : Buffer.byteLength(json)) + entryBytes
  run.log({ level, message, data, ts: new Date(at).toISOString() }, bytes)
}
