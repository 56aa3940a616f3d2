import { maxDepth, measureValue } from '../limits.js'
import type { Run } from './run.js'
import { HostError, type Json } from './types.js'

/** Answer of a host call for the code; `json` is the value or the error. */
interface HostAnswer {
  ok: boolean
  json: string
}

/** Executes a host call of the code. `json` contains the arguments. Never rejects. */
export async function callHost(run: Run, name: string, json: string): Promise<HostAnswer> {
  try {
    const value = await run.request.host({ name, args: argsOf(run, json) }, run.signal)
    return { ok: true, json: answerOf(run, name, value) }
  } catch (thrown) {
    const { code, message, details } = thrown instanceof HostError ? thrown : internalError
    return { ok: false, json: JSON.stringify({ code, message, details }) }
  }
}

const internalError = new HostError('internal_error', 'the call failed')

function argsOf({ limits }: Run, json: string): Json[] {
  if (Buffer.byteLength(json) > limits.outputBytes)
    throw new HostError('too_large', `the arguments are longer than ${limits.outputBytes} bytes`)
  const args = JSON.parse(json) as Json[]
  const { problem } = measureValue(args, { bytes: Number.POSITIVE_INFINITY, depth: maxDepth + 1 })
  if (problem) throw new HostError('invalid_argument', `the arguments are not allowed: ${problem}`)
  return args
}

function answerOf({ limits }: Run, name: string, value: Json): string {
  const json = JSON.stringify(value ?? null)
  if (Buffer.byteLength(json) > limits.inputBytes)
    throw new HostError('too_large', `the answer of ${name} is longer than ${limits.inputBytes} bytes`)
  return json
}
